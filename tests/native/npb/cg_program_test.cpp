// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

#include "npb/cg/problem.hpp"
#include "npb/common/team.hpp"

namespace cg = tare::npb::cg;
using tare::npb::Arguments;
using tare::npb::Outcome;
using tare::npb::Team;
using tare::npb::Verification;
using tare::npb::World;

namespace {

Outcome run(const Arguments& arguments) { return cg::kernel.run(arguments, World::of(MPI_COMM_SELF)); }

Arguments changed(const char* name, double value) {
    Arguments arguments;
    arguments.settings.emplace(name, value);
    return arguments;
}

}  // namespace

TEST_CASE("CG of class S verifies with each kind of vector instructions") {
    for (const auto simd : tare::npb::runnable()) {
        Arguments arguments;
        arguments.simd = simd;
        const Outcome outcome = run(arguments);
        CHECK(tare::npb::verdict(outcome.checks) == Verification::successful);
        CHECK(!outcome.wrong_here);
        CHECK(outcome.million_operations == doctest::Approx(66.72).epsilon(0.001));
    }
}

TEST_CASE("CG's threads work on parts that make the whole, and add up in the same order") {
    for (const int threads : {1, 2, 3}) {
        Team team{threads};
        std::vector<int> visits(10, 0);
        for (int round = 0; round < 20; ++round) {
            team.run([&](int thread) {
                const auto part = team.part(thread, 10);
                for (int place = part.first; place < part.end(); ++place) {
                    ++visits[static_cast<std::size_t>(place)];
                }
            });
        }
        CHECK(visits == std::vector<int>(10, 20));
        CHECK(team.sum([](int thread) { return thread + 1.0; }) == threads * (threads + 1) / 2.0);
    }
}

TEST_CASE("CG finds the same with threads") {
    Arguments arguments = changed("iterations", 1);
    const double alone = run(arguments).checks[0].computed;
    arguments.threads = 2;
    CHECK(run(arguments).checks[0].computed == doctest::Approx(alone).epsilon(1e-13));
}

TEST_CASE("a changed CG is not verified") {
    CHECK(tare::npb::verdict(run(changed("iterations", 1)).checks) == Verification::not_performed);
}

TEST_CASE("CG refuses what it cannot make") {
    for (const auto& arguments : {changed("order", 0), changed("drawn", 1401), changed("drawn", 0),
                                  changed("iterations", 0), changed("order", 1e12)}) {
        CHECK_THROWS_AS(run(arguments), tare::npb::WrongUse);
    }
}
