// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "npb/common/arguments.hpp"
#include "npb/common/outcome.hpp"
#include "npb/common/report.hpp"
#include "npb/common/share.hpp"
#include "npb/common/simd.hpp"

using namespace tare::npb;

namespace {

constexpr std::array<std::string_view, 2> known{"edge", "time_step"};

Arguments parsed(std::vector<std::string> words) {
    std::vector<char*> pointers;
    for (std::string& word : words) {
        pointers.push_back(word.data());
    }
    return parse_arguments(pointers, known);
}

Check with(double computed) {
    return {.name = "two", .computed = computed, .published = 2.0, .tolerance = 1e-8};
}

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("arguments: without any, class S in the widest vectors") {
    const Arguments arguments = parsed({});
    CHECK(arguments.problem_class == ProblemClass::s);
    CHECK(arguments.simd == runnable().back());
    CHECK(arguments.threads == 1);
    CHECK_FALSE(arguments.json);
    CHECK(arguments.is_published());
}

TEST_CASE("arguments: messages are the kernel's own unless the reference's are asked") {
    CHECK(parsed({}).messages == Messages::own);
    CHECK(parsed({"--messages", "own"}).messages == Messages::own);
    CHECK(parsed({"--messages", "reference"}).messages == Messages::reference);
    CHECK_THROWS_AS(parsed({"--messages", "fewer"}), WrongUse);
}

TEST_CASE("shares cover all in order and differ by one at most") {
    for (const std::int64_t total : {std::int64_t{0}, std::int64_t{7}, std::int64_t{1} << 44}) {
        for (const int parts : {1, 2, 3, 1024}) {
            std::int64_t next = 0;
            for (int index = 0; index < parts; ++index) {
                const auto share = share_of(total, parts, index);
                CHECK(share.first == next);
                CHECK(share.count >= total / parts);
                CHECK(share.count <= (total + parts - 1) / parts);
                next = share.end();
            }
            CHECK(next == total);
        }
    }
}

TEST_CASE("arguments: each option arrives") {
    const Arguments arguments =
        parsed({"--class", "b", "--json", "--simd", "plain", "--threads", "3", "--set", "edge=12"});
    CHECK(arguments.problem_class == ProblemClass::b);
    CHECK(arguments.simd == Simd::plain);
    CHECK(arguments.threads == 3);
    CHECK(arguments.json);
    CHECK(arguments.setting("edge", 64) == 12);
    CHECK(arguments.setting("time_step", 0.5) == 0.5);
    CHECK_FALSE(arguments.is_published());
}

TEST_CASE("arguments: what does not exist is refused") {
    const std::vector<std::vector<std::string>> wrong{{"--class", "X"},
                                                      {"--class", "AA"},
                                                      {"--class"},
                                                      {"--fast"},
                                                      {"--simd", "mmx"},
                                                      {"--threads", "0"},
                                                      {"--threads", "many"},
                                                      {"--set", "colour=3"},
                                                      {"--set", "=3"},
                                                      {"--set", "edge"},
                                                      {"--set", "edge=nan"},
                                                      {"--set", "edge=1e13"},
                                                      {"--set", "edge=x"},
                                                      {"--threads", "1025"},
                                                      {"--set"},
                                                      {""}};
    for (const auto& words : wrong) {
        CHECK_THROWS_AS(parsed(words), WrongUse);
    }
}

TEST_CASE("arguments: a whole number that is not whole, or does not fit, is refused and not cut") {
    CHECK_THROWS_AS(static_cast<void>(parsed({"--set", "edge=12.5"}).setting("edge", 1)), WrongUse);
    CHECK_THROWS_AS(static_cast<void>(parsed({"--set", "edge=1e12"}).setting("edge", 1)), WrongUse);
    CHECK(parsed({"--set", "edge=1e12"}).setting("edge", std::int64_t{1}) == 1'000'000'000'000);
    CHECK(parsed({"--set", "edge=-3"}).setting("edge", 1) == -3);
    CHECK(parsed({"--set", "edge=12.5"}).setting("edge", 1.0) == 12.5);
}

TEST_CASE("verification: a value within the tolerance is right, on both sides") {
    CHECK(verdict({with(2), with(2 + 1.9e-8), with(2 - 1.9e-8)}) == Verification::successful);
    CHECK(verdict({with(2), with(2 + 2.1e-8)}) == Verification::unsuccessful);
    CHECK(verdict({with(2 - 2.1e-8), with(2)}) == Verification::unsuccessful);
}

TEST_CASE("verification: what is not a finite number is never right, published or not") {
    for (const double value : {not_a_number, infinite, -infinite}) {
        CHECK(verdict({with(2), with(value)}) == Verification::unsuccessful);
        CHECK(verdict({{.name = "own", .computed = value}}) == Verification::unsuccessful);
    }
    Check unclear = with(2);
    unclear.tolerance = not_a_number;
    CHECK(verdict({unclear}) == Verification::unsuccessful);
}

TEST_CASE("verification: a published zero is compared without division") {
    CHECK(verdict({{.name = "zero", .computed = 0, .published = 0.0}}) == Verification::successful);
    CHECK(verdict({{.name = "zero", .computed = 1, .published = 0.0}}) == Verification::unsuccessful);
}

TEST_CASE("verification: without a published value, or without any value, nothing is verified") {
    CHECK(verdict({}) == Verification::not_performed);
    CHECK(verdict({with(2), {.name = "own", .computed = 1}}) == Verification::not_performed);
    CHECK(verdict({with(3), {.name = "own", .computed = 1}}) == Verification::unsuccessful);
}

TEST_CASE("report: the run's time is that of the slowest rank") {
    const Report report{.kernel = "EP",
                        .arguments = {},
                        .ranks = 3,
                        .outcome = {.million_operations = 8},
                        .rank_wall_s = {1, 4, 2}};
    CHECK(report.wall_s() == 4);
    CHECK(report.million_operations_per_s() == 2);
    const std::string block = text(report);
    CHECK(block.find("EP Benchmark Completed") != std::string::npos);
    CHECK(block.find("Mop/s total     =                 2.000000") != std::string::npos);
}

TEST_CASE("report: a changed problem does not pass for the class") {
    Report report{.kernel = "EP", .arguments = {}, .rank_wall_s = {1}};
    report.arguments.settings["exponent"] = 24;
    CHECK(text(report).find("Class           =                        U") != std::string::npos);
    CHECK(json(report).find(R"("class":"own")") != std::string::npos);
}

TEST_CASE("report: the block says that this is a rewrite, in the columns of the reference's block") {
    const std::string block = text({.kernel = "EP", .arguments = {}, .rank_wall_s = {1}});
    CHECK(block.find("\n Version         =  Tare rewrite, 3.4 rules\n") != std::string::npos);
}

TEST_CASE("report: a rank that took no part has no time") {
    const Report report{.kernel = "BT",
                        .arguments = {},
                        .ranks = 2,
                        .outcome = {.active_ranks = 1, .phases = {{.name = "x"}}},
                        .rank_wall_s = {4, 0},
                        .phase_wall_s = {{3, 0}}};
    CHECK(json(report).find(R"([{"rank":0,"wall_s":4,"x_s":3},{"rank":1,"wall_s":null,"x_s":null}])") !=
          std::string::npos);
}

TEST_CASE("report: one rank's doubt makes the run wrong, whatever the checks say") {
    const World world = World::of(MPI_COMM_SELF);
    Outcome outcome{.wall_s = 1, .checks = {with(2)}};
    CHECK(gathered("EP", {}, world, outcome).verification == Verification::successful);
    outcome.wrong_here = true;
    CHECK(gathered("EP", {}, world, outcome).verification == Verification::unsuccessful);
}

TEST_CASE(
    "vector code: the rule takes the widest that a processor has, and says what it had to choose from") {
    const std::vector<Simd> zen_3{Simd::plain, Simd::avx2};
    CHECK(chosen("widest", {Simd::plain}).simd == Simd::plain);
    CHECK(chosen("widest", zen_3).simd == Simd::avx2);
    CHECK(chosen("widest", zen_3).rule == "the widest of plain, avx2 here");
    CHECK(chosen("widest", {Simd::plain, Simd::avx2, Simd::avx512}).simd == Simd::avx512);
    CHECK(chosen("plain", zen_3).rule == "asked for, of plain, avx2 here");
    CHECK_THROWS_AS(static_cast<void>(chosen("avx512", zen_3)), WrongUse);
}

TEST_CASE("vector code: plain always runs, names are read back, and what is missing is refused") {
    const auto can = runnable();
    CHECK(can.front() == Simd::plain);
    for (const Simd simd : can) {
        CHECK(chosen(name_of(simd)).simd == simd);
    }
    CHECK(chosen("widest").simd == can.back());
    for (const Simd simd : {Simd::avx2, Simd::avx512}) {
        if (std::find(can.begin(), can.end(), simd) == can.end()) {
            CHECK_THROWS_AS(static_cast<void>(chosen(name_of(simd))), WrongUse);
        }
    }
}
