// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slices/memory/memory.hpp"

namespace tare::slices {

/// A turn as it is asked for: `PIECE COUNT`.
struct Turn {
    std::string piece;
    std::uint64_t count = 0;  ///< Units of work, at least 1.

    [[nodiscard]] std::string text() const { return piece + ' ' + std::to_string(count); }
};

/// Reads `PIECE COUNT`; throws `std::invalid_argument`.
[[nodiscard]] Turn parse_turn(std::string_view line);

constexpr std::uint64_t usual_rounds = 15;
constexpr std::size_t usual_memory_mib = 32;
constexpr std::size_t usual_message_kib = 1024;

/// What a resident program was asked for on its command line.
struct Options {
    std::vector<Turn> once;               ///< Do these, and end; empty: serve turns from standard input.
    std::uint64_t rounds = usual_rounds;  ///< Of `once`.
    std::size_t memory_mib = usual_memory_mib;  ///< Of each of the three arrays of `bandwidth`.
    std::size_t message_kib = usual_message_kib;
    Placement placement;
    int node_ranks = 0;  ///< Ranks that wait together; 0: all that share a node's memory.
};

/// Reads the arguments behind the program's name: options with a value each, then `--once PIECE COUNT ...`.
/// Throws `std::invalid_argument`.
[[nodiscard]] Options parse_options(std::span<char* const> arguments);

/// Units to do before the timed ones, so that the caches are warm again: a fifth, at least 1.
[[nodiscard]] std::uint64_t warming_units(std::uint64_t count);

}  // namespace tare::slices
