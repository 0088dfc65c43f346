// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tare::mpiio {

/// Where the ranks' records lie.
enum class Pattern : std::uint8_t {
    strided,    ///< One file of all ranks, a record of each in turn.
    segmented,  ///< One file of all ranks, all records of a rank behind each other.
    own,        ///< A file of each rank's own.
};

[[nodiscard]] constexpr bool is_shared(Pattern pattern) { return pattern != Pattern::own; }

/// Whose records this rank reads: its own, or in a shared file the records of the rank half a job away. As
/// every node has as many ranks, one behind the other, that rank is in another node wherever a job has
/// several: so a folder that the nodes do not share is found out, and a node's own cache of what it wrote
/// serves no read.
[[nodiscard]] constexpr int read_from(Pattern pattern, int rank, int ranks) {
    return is_shared(pattern) ? (rank + ranks / 2) % ranks : rank;
}

/// What one rank moves: `records` records of `record_byte` each.
struct Share {
    Pattern pattern = Pattern::strided;
    int rank = 0;
    int ranks = 1;
    std::uint64_t record_byte = 1;
    std::uint64_t records = 1;

    [[nodiscard]] std::uint64_t size_byte() const { return record_byte * records; }
};

/// Where in its file the record of this number begins, from 0.
[[nodiscard]] std::uint64_t place_of(const Share& share, std::uint64_t record);

/// The size of the file that this rank's records are in, once all ranks have written theirs.
[[nodiscard]] std::uint64_t file_byte(const Share& share);

}  // namespace tare::mpiio
