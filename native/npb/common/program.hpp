// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "npb/common/arguments.hpp"
#include "npb/common/outcome.hpp"
#include "npb/common/world.hpp"

namespace tare::npb {

/// Exit codes of every kernel's program.
constexpr int exit_wrong = 1;
constexpr int exit_usage = 2;
constexpr int exit_unverified = 3;

/// A benchmark: its name as NPB prints it, what `--set` may change, and its run, which is called in all ranks
/// and throws `WrongUse` in all of them alike (such as for a number of ranks that the kernel cannot use).
struct Kernel {
    std::string_view name;
    std::span<const std::string_view> settings;
    Outcome (*run)(const Arguments& arguments, const World& world);
};

/// The `main` of a kernel's program: reads the command line, runs, reports in rank 0.
/// The exit code is 0 only for a verified run.
[[nodiscard]] int run_program(const Kernel& kernel, int argument_count, char** arguments);

}  // namespace tare::npb
