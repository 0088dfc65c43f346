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
    const double sigma = std::sqrt(std::log1p(options.noise * options.noise));
    auto random = generator(options);
    const double noise = std::exp(sigma * std::normal_distribution<double>{}(random));
    return options.value * (1.0 + options.slowdown) * noise;
}

std::string regular_output(double value) { return value_line(value) + "end of output\n"; }

int act(const Options& options) {
    const double value = drawn_value(options);
    const std::string line = value_line(value);
    std::this_thread::sleep_for(std::chrono::duration<double>{options.sleep_s});
    switch (options.behaviour) {
        case Behaviour::ok:
            return print(regular_output(value));
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
