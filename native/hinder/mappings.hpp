// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace tare::hinder {

constexpr std::uint32_t most_mappings = 30'000;  // half of what Linux permits a process (vm.max_map_count)

/// Runs the command with `count` more mappings in it, and in each program that it starts itself: single pages
/// that were written to, apart from each other, as an agent leaves them that is put into every program. Each
/// fork(2) copies them. The command stays followed (`run_followed`), the programs that it starts do not. A
/// program of another width gets none, and the command complains.
[[nodiscard]] int run_with_mappings(std::uint32_t count, std::span<char* const> command);

}  // namespace tare::hinder
