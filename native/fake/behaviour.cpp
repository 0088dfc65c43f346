// SPDX-License-Identifier: Apache-2.0
#include "fake/behaviour.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <random>
#include <string_view>
#include <thread>

#include "common/json.hpp"
#include "common/system.hpp"

namespace tare::fake {

namespace {

constexpr int exit_failed = 3;
constexpr std::size_t garbage_byte = std::size_t{64} * 1024;
constexpr std::chrono::hours print_limit{24};

std::mt19937_64 generator(const Options& options) {
    if (options.seed) {
        return std::mt19937_64{*options.seed};
    }
    std::random_device device;
    std::seed_seq seeds{device(), device(), device(), device()};
    return std::mt19937_64{seeds};
}

/// Lognormal with median 1 and the coefficient of variation that is asked for.
double drawn_noise(const Options& options, std::mt19937_64& random) {
    const double sigma = std::sqrt(std::log1p(options.noise * options.noise));
    return std::exp(sigma * std::normal_distribution<double>{}(random));
}

std::string value_line(double value) { return "time_s " + json_number(value) + '\n'; }

int print(std::string_view text) { return write_all(STDOUT_FILENO, text, print_limit) ? 0 : 1; }

int print_garbage(const Options& options) {
    constexpr unsigned byte_mask = 0xFF;
    auto random = generator(options);
    std::string bytes(garbage_byte, '\0');
    std::generate(bytes.begin(), bytes.end(), [&random] { return static_cast<char>(random() & byte_mask); });
    return print(bytes);
}

int print_for_ever(const std::string& line) {
    while (print(line) == 0) {
    }
    return 1;
}

int fail() {
    complain("fake", "this failure was asked for");
    return exit_failed;
}

int crash() {
    static_cast<void>(std::signal(SIGSEGV, SIG_DFL));
    return std::raise(SIGSEGV);
}

int hang() {
    for (;;) {
        ::pause();
    }
}

}  // namespace

double drawn_value(const Options& options) {
    auto random = generator(options);
    return options.value * (1.0 + options.slowdown) * drawn_noise(options, random);
}

std::vector<Point> drawn_curve(const Options& options) {
    constexpr double byte_of_twice_the_time = 4096.0;
    auto random = generator(options);
    std::vector<Point> points;
    std::uint64_t size_byte = 1;
    std::uint64_t step = 1;
    while (points.size() < options.curve) {
        const double whole = options.value * (1.0 + static_cast<double>(size_byte) / byte_of_twice_the_time);
        points.push_back({size_byte, whole * (1.0 + options.slowdown) * drawn_noise(options, random)});
        step = size_byte == 4 * step ? 2 * step : step;
        size_byte += step;
    }
    return points;
}

std::string regular_output(double value, const std::vector<Point>& curve) {
    std::string text = value_line(value);
    for (const Point& point : curve) {
        text += "point " + std::to_string(point.size_byte) + ' ' + json_number(point.time_s) + '\n';
    }
    return text + "end of output\n";
}

int act(const Options& options) {
    const double value = drawn_value(options);
    const std::string line = value_line(value);
    std::this_thread::sleep_for(std::chrono::duration<double>{options.sleep_s});
    switch (options.behaviour) {
        case Behaviour::ok:
            return print(regular_output(value, drawn_curve(options)));
        case Behaviour::fail:
            return fail();
        case Behaviour::crash:
            return crash();
        case Behaviour::hang:
            return hang();
        case Behaviour::garbage:
            return print_garbage(options);
        case Behaviour::endless:
            return print_for_ever(line);
        case Behaviour::truncated:
            return print(std::string_view{line}.substr(0, line.size() - 2));
        case Behaviour::missing:
            return 0;
    }
    return 1;
}

}  // namespace tare::fake
