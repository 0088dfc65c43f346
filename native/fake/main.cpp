// SPDX-License-Identifier: Apache-2.0
// A workload that behaves as told, to test everything around a workload.
#include <cmath>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <span>
#include <stdexcept>
#include <string>

#include "common/exec.hpp"
#include "common/number.hpp"
#include "common/system.hpp"
#include "fake/behaviour.hpp"
#include "fake/options.hpp"
#include "fake/slices.hpp"
#include "fake/state.hpp"

namespace {

double number_in(const char* variable) {
    const char* const text = std::getenv(variable);
    const auto value = tare::parse_number<double>(text == nullptr ? "0" : text);
    if (!value || !std::isfinite(*value) || *value <= -1.0) {
        throw std::invalid_argument(std::string{variable} + " is not a number above -1");
    }
    return *value;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const auto arguments = std::span<char* const>{argv, static_cast<std::size_t>(argc)}.subspan(1);
        auto options = tare::fake::parse_options(arguments, std::getenv("TARE_FAKE_SLOWDOWN"));
        if (const auto accumulate = number_in("TARE_FAKE_ACCUMULATE"); accumulate != 0.0) {
            const char* const file = std::getenv("TARE_FAKE_STATE");
            const unsigned runs = file == nullptr ? 0 : tare::fake::runs_before(file);
            options.slowdown = tare::fake::grown(options.slowdown, accumulate, runs);
        }
        if (options.slices) {
            return tare::fake::serve_slices(options, std::cin, std::cout);
        }
        return tare::fake::act(options);
    } catch (const std::exception& error) {
        tare::complain("fake", error.what());
        return tare::exit_wrong_use;
    }
}
