// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "hpl/axis.hpp"
#include "hpl/matrix.hpp"
#include "hpl/options.hpp"

using namespace tare::hpl;

TEST_CASE("each row belongs to one process, which finds it at the place that it counts") {
    for (const int total : {1, 7, 64, 101}) {
        for (const int processes : {1, 2, 3, 5}) {
            for (const int block : {1, 4, 33}) {
                int sum = 0;
                for (int index = 0; index < processes; ++index) {
                    const Axis axis{.block = block, .index = index, .processes = processes};
                    int count = 0;
                    for (int global = 0; global < total; ++global) {
                        CHECK(axis.local_count(global) == count);
                        if (axis.owns(global)) {
                            CHECK(axis.local(global) == count);
                            CHECK(axis.global(count) == global);
                            ++count;
                        }
                    }
                    CHECK(axis.local_count(total) == count);
                    sum += count;
                }
                CHECK(sum == total);
            }
        }
    }
}

TEST_CASE("entries lie evenly between -0.5 and 0.5") {
    constexpr int edge = 300;
    double sum = 0;
    double squares = 0;
    for (int row = 0; row < edge; ++row) {
        for (int column = 0; column < edge; ++column) {
            const double value = entry(row, column);
            CHECK_MESSAGE((value > -0.5 && value < 0.5), value);
            sum += value;
            squares += value * value;
        }
    }
    CHECK(sum / (edge * edge) == doctest::Approx(0.0).epsilon(0.005));
    CHECK(squares / (edge * edge) == doctest::Approx(1.0 / 12).epsilon(0.01));
}

TEST_CASE("a command line is a problem and a grid of as many processes as there are") {
    const auto parsed = [](std::vector<std::string> words, int ranks) {
        std::vector<char*> pointers;
        for (auto& word : words) {
            pointers.push_back(word.data());
        }
        return parse_options(pointers, ranks);
    };
    const Problem problem = parsed({"--size", "100", "--block", "8", "--process-columns", "2"}, 2);
    CHECK(problem.size == 100);
    CHECK(problem.process_columns == 2);
    CHECK_THROWS_AS(parsed({"--size", "100"}, 2), std::invalid_argument);
    CHECK_THROWS_AS(parsed({"--size"}, 1), std::invalid_argument);
    CHECK_THROWS_AS(parsed({"--size", "0"}, 1), std::invalid_argument);
    CHECK_THROWS_AS(parsed({"--block", "8"}, 1), std::invalid_argument);
    CHECK_THROWS_AS(parsed({"--rows", "8"}, 1), std::invalid_argument);
}
