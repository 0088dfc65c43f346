// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "fake/behaviour.hpp"
#include "fake/options.hpp"
#include "fake/state.hpp"

namespace {

using tare::fake::Behaviour;
using tare::fake::drawn_curve;
using tare::fake::Options;
using tare::fake::parse_options;
using tare::tests::Arguments;

std::vector<double> draws(double noise, std::size_t count) {
    std::vector<double> values;
    for (std::uint64_t seed = 0; seed < count; ++seed) {
        values.push_back(drawn_value(Options{.noise = noise, .seed = seed}));
    }
    return values;
}

TEST_CASE("without options the fake prints 1 and behaves") {
    const Options options = parse_options(Arguments{}.span(), nullptr);
    CHECK(drawn_value(options) == 1.0);
    CHECK(options.behaviour == Behaviour::ok);
    CHECK(tare::fake::regular_output(1.0) == "time_s 1\nend of output\n");
}

TEST_CASE("every option of the fake is read") {
    const Arguments arguments{"--value", "2.5",       "--noise", "0.1",         "--seed",
                              "7",       "--sleep-s", "0.25",    "--behaviour", "garbage"};
    const Options options = parse_options(arguments.span(), "0.05");
    CHECK(options.value == 2.5);
    CHECK(options.noise == 0.1);
    CHECK(options.seed == 7U);
    CHECK(options.sleep_s == 0.25);
    CHECK(options.behaviour == Behaviour::garbage);
    CHECK(options.slowdown == 0.05);
}

TEST_CASE("wrong options of the fake are refused") {
    CHECK_THROWS_AS(parse_options(Arguments{"--value", "x"}.span(), nullptr), std::invalid_argument);
    CHECK_THROWS_AS(parse_options(Arguments{"--value", "nan"}.span(), nullptr), std::invalid_argument);
    CHECK_THROWS_AS(parse_options(Arguments{"--noise", "-1"}.span(), nullptr), std::invalid_argument);
    CHECK_THROWS_AS(parse_options(Arguments{"--seed"}.span(), nullptr), std::invalid_argument);
    CHECK_THROWS_AS(parse_options(Arguments{"--behaviour", "well"}.span(), nullptr), std::invalid_argument);
    CHECK_THROWS_AS(parse_options(Arguments{"--curve", "61"}.span(), nullptr), std::invalid_argument);
    CHECK_THROWS_AS(parse_options(Arguments{"--curve", "-1"}.span(), nullptr), std::invalid_argument);
    CHECK_THROWS_AS(parse_options(Arguments{"--speed", "1"}.span(), nullptr), std::invalid_argument);
    CHECK_THROWS_AS(parse_options(Arguments{}.span(), "slow"), std::invalid_argument);
    CHECK_THROWS_AS(parse_options(Arguments{}.span(), "-1.5"), std::invalid_argument);
}

TEST_CASE("the slowdown multiplies the value exactly") {
    CHECK(drawn_value(Options{.value = 2.0, .slowdown = 0.5}) == 3.0);
    CHECK(drawn_value(Options{.value = 2.0, .slowdown = -0.5}) == 1.0);
}

TEST_CASE("a curve has two sizes for every doubling, up to 2^30 bytes") {
    const auto points = drawn_curve(Options{.curve = 60});
    std::vector<std::uint64_t> first;
    for (std::size_t number = 0; number < 9; ++number) {
        first.push_back(points[number].size_byte);
    }
    CHECK(first == std::vector<std::uint64_t>{1, 2, 3, 4, 6, 8, 12, 16, 24});
    CHECK(points.size() == 60);
    CHECK(points.back().size_byte == std::uint64_t{1} << 30U);
    CHECK(drawn_curve(Options{}).empty());
}

TEST_CASE("a curve grows with its size and with the slowdown") {
    const auto plain = drawn_curve(Options{.value = 2.0, .curve = 20});
    const auto slowed = drawn_curve(Options{.value = 2.0, .curve = 20, .slowdown = 0.5});
    CHECK(plain.front().time_s == doctest::Approx(2.0 * (1.0 + 1.0 / 4096.0)));
    CHECK(plain.back().size_byte == 1024);
    CHECK(plain.back().time_s == doctest::Approx(2.5));
    CHECK(slowed.back().time_s == doctest::Approx(3.75));
}

TEST_CASE("each run before this one makes it slower by the same fraction") {
    CHECK(tare::fake::grown(0.0, 0.02, 0) == doctest::Approx(0.0));
    CHECK(tare::fake::grown(0.5, 0.02, 3) == doctest::Approx(1.5 * 1.02 * 1.02 * 1.02 - 1.0));
}

TEST_CASE("runs are counted in a file") {
    std::string folder = std::filesystem::temp_directory_path() / "tare-fake-XXXXXX";
    REQUIRE(::mkdtemp(folder.data()) != nullptr);
    const std::string file = folder + "/runs";
    CHECK(tare::fake::runs_before(file) == 0);
    CHECK(tare::fake::runs_before(file) == 1);
    CHECK(tare::fake::runs_before(file) == 2);
    std::filesystem::remove_all(folder);
    CHECK(tare::fake::runs_before("/nowhere/at/all") == 0);
}

TEST_CASE("the points of a curve are printed before the end") {
    CHECK(tare::fake::regular_output(1.0, {{1, 0.5}, {2, 0.25}}) ==
          "time_s 1\npoint 1 0.5\npoint 2 0.25\nend of output\n");
}

TEST_CASE("one seed gives one value, another seed another") {
    const Options first{.noise = 0.1, .seed = 1};
    CHECK(drawn_value(first) == drawn_value(first));
    CHECK(drawn_value(first) != drawn_value(Options{.noise = 0.1, .seed = 2}));
    const Options unseeded{.noise = 0.1};
    CHECK(drawn_value(unseeded) != drawn_value(unseeded));
}

TEST_CASE("the noise has median 1 and the coefficient of variation asked for") {
    constexpr std::size_t count = 20000;
    std::vector<double> values = draws(0.2, count);
    double sum = 0.0;
    double square_sum = 0.0;
    for (const double value : values) {
        sum += value;
        square_sum += value * value;
    }
    const double mean = sum / count;
    const double deviation = std::sqrt(square_sum / count - mean * mean);
    std::nth_element(values.begin(), values.begin() + count / 2, values.end());
    CHECK(values[count / 2] == doctest::Approx(1.0).epsilon(0.01));
    CHECK(deviation / mean == doctest::Approx(0.2).epsilon(0.03));
}

}  // namespace
