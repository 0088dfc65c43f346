// SPDX-License-Identifier: Apache-2.0
// What a rank did, one record for each thing that it did, in the bytes of its trace's file. The file begins
// with one line of JSON, which names the calls by their numbers; src/tare/traces/rank_trace.py
// reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "profile/call.hpp"
#include "profile/journal.hpp"

namespace tare::profile {

/// The numbers are the file's.
enum class TraceKind : std::uint8_t {
    /// A call of which nothing more is told.
    call = 0,
    /// A one-sided call, one between neighbours, or a file's.
    moved = 1,
    sent = 2,
    received = 3,
    /// A receive began, the end of which another call tells.
    posted = 4,
    /// A request ended; `peer` is negative if it brought no message.
    ended = 5,
    /// A call of all members of a communicator, for which `part` records may stand before it.
    met = 6,
    /// What the next such call sends to and receives from its member `tag`, if that is not the same for all.
    part = 7,
    /// A communicator's member `tag` is the rank `peer` in MPI_COMM_WORLD.
    member = 8,
    /// Writing the trace itself took this time.
    own = 9,
    /// The last record: the clock (`closing`).
    closed = 10,
    /// There was no room for what followed.
    cut = 11
};

/// What a field is not needed for is 0.
struct TraceRecord {
    static constexpr std::size_t layout_byte = 56;
    static constexpr std::uint8_t is_call = 1;
    static constexpr std::uint8_t on_main = 2;
    static constexpr std::uint8_t has_sent = 4;
    static constexpr std::uint8_t has_received = 8;

    std::int64_t begin_ticks = 0;
    std::int64_t end_ticks = 0;
    std::uint64_t sent_byte = 0;
    std::uint64_t received_byte = 0;
    /// A message's stream, or a communicator; 0 if that is not known.
    std::uint64_t context = 0;
    /// A rank in MPI_COMM_WORLD, the number of these for a process outside of it; of a collective call how
    /// many members there are.
    std::int32_t peer = 0;
    /// The message's tag; of a collective call the root, negative without one.
    std::int32_t tag = 0;
    /// The number of a request that the record begins or ends, from 1 on; 0: none.
    std::uint32_t request = 0;
    Call call = Call::none;
    TraceKind kind = TraceKind::call;
    std::uint8_t flags = 0;
};

static_assert(std::is_trivially_copyable_v<TraceRecord> && sizeof(TraceRecord) == TraceRecord::layout_byte);

/// The name of a rank's trace.
[[nodiscard]] inline std::string trace_path(const std::string& trace, int rank) {
    return trace + ".rank-" + std::to_string(rank);
}

}  // namespace tare::profile
