// SPDX-License-Identifier: Apache-2.0
#include "profile/clock_lines.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <random>

using namespace tare::profile;

namespace {

constexpr double ns_per_s = 1e9;

/// A clock that counts from some value at its own rate, which may wander over the run.
struct SimulatedClock {
    std::int64_t origin_ticks;
    /// What its kernel takes for its rate.
    double ns_per_tick;
    /// What that is wrong by.
    double drift;
    double wander;

    [[nodiscard]] std::int64_t ticks(double true_ns, double run_ns) const {
        const double wave = 2 * std::numbers::pi / run_ns;
        const double shown_ns = true_ns * (1 + drift) + wander / wave * std::sin(true_ns * wave);
        return origin_ticks + std::llround(shown_ns / ns_per_tick);
    }
};

/// Two of them, and questions whose ways take any time.
class Simulation {
  public:
    explicit Simulation(unsigned seed)
        : random_{seed},
          run_ns_{std::pow(10, uniform(-1, 4)) * ns_per_s},
          own_{some_clock()},
          reference_{some_clock()} {
        own_.wander = uniform(-1e-6, 1e-6);
    }

    double uniform(double low, double high) {
        return std::uniform_real_distribution<double>{low, high}(random_);
    }
    ClockReading ask(double true_ns) {
        const double there_ns = std::pow(10, uniform(2, 7));
        const double back_ns = std::pow(10, uniform(2, 7));
        return {.asked_ticks = own(true_ns),
                .reference_ticks = reference(true_ns + there_ns),
                .answered_ticks = own(true_ns + there_ns + back_ns)};
    }
    [[nodiscard]] std::int64_t own(double true_ns) const { return own_.ticks(true_ns, run_ns_); }
    [[nodiscard]] std::int64_t reference(double true_ns) const { return reference_.ticks(true_ns, run_ns_); }
    [[nodiscard]] double run_ns() const { return run_ns_; }
    [[nodiscard]] double own_ns_per_tick() const { return own_.ns_per_tick; }
    [[nodiscard]] double reference_ns_per_tick() const { return reference_.ns_per_tick; }
    std::optional<ClockLine> line() {
        const ClockReading first = ask(0);
        return line_between(first, ask(run_ns_), own_ns_per_tick(), reference_ns_per_tick());
    }

  private:
    SimulatedClock some_clock() {
        return {.origin_ticks = std::llround(uniform(0, 1e16)),
                .ns_per_tick = uniform(0, 1) < 0.5 ? 1 : uniform(0.2, 1.5),
                .drift = uniform(-4e-5, 4e-5),
                .wander = 0};
    }

    std::mt19937 random_;
    double run_ns_;
    SimulatedClock own_;
    SimulatedClock reference_;
};

double apart_ns(std::int64_t first_ticks, std::int64_t second_ticks, double ns_per_tick) {
    return std::abs(static_cast<double>(first_ticks - second_ticks)) * ns_per_tick;
}

}  // namespace

TEST_CASE("the true moment is within the error, whatever the clocks show, their rates, and the ways' times") {
    for (unsigned seed = 0; seed < 5000; ++seed) {
        CAPTURE(seed);
        Simulation simulation{seed};
        const auto line = simulation.line();
        REQUIRE(line);
        for (int moment = 0; moment < 10; ++moment) {
            const double true_ns = simulation.uniform(2e7 / simulation.run_ns(), 1) * simulation.run_ns();
            const std::int64_t own_ticks = simulation.own(true_ns);
            const std::int64_t reference_ticks = simulation.reference(true_ns);
            CHECK(apart_ns(line->to_reference(own_ticks), reference_ticks,
                           simulation.reference_ns_per_tick()) <= line->error_ns);
            CHECK(apart_ns(line->from_reference(reference_ticks), own_ticks, simulation.own_ns_per_tick()) <=
                  line->error_ns);
        }
    }
}

TEST_CASE("the error is half the longer round trip, what rates may wander, and how old a reading may be") {
    const auto line =
        line_between({1'000, 77'000, 1'400}, {10'000'000'000, 10'000'076'000, 10'000'000'200}, 1, 1);
    REQUIRE(line);
    CHECK(line->error_ns == doctest::Approx(200 + 5'000 + 1'000).epsilon(0.001));
}

TEST_CASE("clocks of which one stepped or stopped, or that run apart, are not compared") {
    const ClockReading first{.asked_ticks = 0, .reference_ticks = 500, .answered_ticks = 1'000};
    const auto after_s = [&](std::int64_t own_ns, std::int64_t reference_ns) {
        return line_between(first, {own_ns, reference_ns, own_ns + 1'000}, 1, 1);
    };
    CHECK(after_s(1'000'000'000, 1'000'090'000));
    CHECK_FALSE(after_s(1'000'000'000, 1'000'110'000));
    CHECK_FALSE(after_s(1'000'000'000, 999'890'000));
    CHECK_FALSE(after_s(1'000'000'000, -5));
}

TEST_CASE("a clock and itself agree exactly, however long they have been running") {
    constexpr std::int64_t late_ticks = (std::int64_t{1} << 61) + 1;
    CHECK(same_clock.to_reference(late_ticks) == late_ticks);
    CHECK(same_clock.from_reference(late_ticks) == late_ticks);
}

TEST_CASE("ranks of a clock share what one of them asked, and those of an unknown one stay apart") {
    const ClockReading first{.asked_ticks = 0, .reference_ticks = 100'000, .answered_ticks = 100};
    const ClockReading last{
        .asked_ticks = 1'000'000'000, .reference_ticks = 1'000'100'000, .answered_ticks = 1'000'000'100};
    const std::vector<ClockNotice> notices{{.clock = 1, .ns_per_tick = 1, .first = {}, .last = {}},
                                           {.clock = 3, .ns_per_tick = 1, .first = first, .last = last},
                                           {.clock = 3, .ns_per_tick = 1, .first = {}, .last = {}},
                                           {.clock = 5, .ns_per_tick = 1, .first = {}, .last = {}}};
    const auto clocks = rank_clocks(notices);
    CHECK(clocks[2].realm == clocks[0].realm);
    CHECK(clocks[2].line.to_reference(50) == 100'000);
    CHECK(clocks[3].realm != clocks[0].realm);
    CHECK(error_ticks(clocks[1], clocks[2]) == 0);
    CHECK(error_ticks(clocks[0], clocks[2]) == 50 + 500 + 1'000);
}
