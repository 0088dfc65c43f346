// SPDX-License-Identifier: Apache-2.0
// A workload that behaves as told, to test everything around a workload.
#include <cstdlib>
#include <exception>
#include <span>

#include "common/exec.hpp"
#include "common/system.hpp"
#include "fake/behaviour.hpp"
#include "fake/options.hpp"

int main(int argc, char** argv) {
    try {
        const auto arguments = std::span<char* const>{argv, static_cast<std::size_t>(argc)}.subspan(1);
        return tare::fake::act(tare::fake::parse_options(arguments, std::getenv("TARE_FAKE_SLOWDOWN")));
    } catch (const std::exception& error) {
        tare::complain("fake", error.what());
        return tare::exit_wrong_use;
    }
}
