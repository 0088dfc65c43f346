// SPDX-License-Identifier: Apache-2.0
// What calls did, written down one after the other and counted many at a time: a program that fills the
// caches with its own data between two calls displaces the counters and the code that counts, and to find
// them again took longer than to count. It lies in the rank's file, so that a rank that is killed leaves it
// behind.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "profile/call.hpp"

namespace tare::profile {

/// What there is to count beside a call's time.
enum class Did : std::uint8_t {
    nothing,
    /// Data of a collective or one-sided call or of a file.
    moved,
    /// A message.
    sent,
    received,
    /// A message that a probe has noted as received already.
    taken,
    /// What such a probe notes.
    matched,
    /// A receive began, the end of which another call tells.
    posted,
    /// A request ended.
    ended,
    /// A collective call.
    met,
    /// What the next entry's call did has a request, the end of which another call tells; for a trace alone.
    begun
};

/// What a member of a collective call is to the others, in the tag of its entry; both, or neither.
inline constexpr std::int32_t part_is_awaited = 1;
inline constexpr std::int32_t part_waits = 2;

/// In the bits above them 1 + the root; 0 where there is none.
inline constexpr unsigned part_bits = 2;

/// Of a receive from anybody: what its end says is a rank in MPI_COMM_WORLD, or is none.
inline constexpr std::int32_t any_of_world = -1;
inline constexpr std::int32_t any_of_others = -2;

inline constexpr std::size_t cache_line_byte = 64;

/// One cache line, which it fills in the journal alone: elsewhere aligning it would take more than it saves.
/// What a field is not needed for is 0.
struct Entry {
    std::int64_t begin_ticks = 0;
    std::int64_t end_ticks = 0;
    std::uint64_t received_byte = 0;
    /// Where in the program the call was made: the address that it returns to; 0 if that is not known.
    std::uint64_t site = 0;
    /// The stream of a message; the communicator of a receive that was posted; the identity of a collective
    /// call's.
    std::uint64_t context = 0;
    /// The request that was posted or ended or, as nothing that sends is either, the bytes sent.
    std::uint64_t request = 0;
    /// The other's rank in MPI_COMM_WORLD, or one of the below if a receive was posted that does not name it;
    /// if a request ended its rank in the communicator, negative if that brought no message; the members of a
    /// collective call.
    std::int32_t peer = 0;
    std::int32_t tag = 0;
    Call call = Call::none;
    Share share = Share::init;
    Did did = Did::nothing;
    bool has_sent = false;
    bool has_received = false;
    /// False for what one call did beyond its first.
    bool is_call : 1 = false;
    /// Whether its time is the rank's time.
    bool on_main : 1 = false;
    /// So that the two are written without reading what was there.
    std::uint8_t unused : 6 = 0;
    /// Otherwise the number of its thread, from 1 on.
    std::uint8_t thread = 0;

    void send(std::uint64_t byte) {
        has_sent = true;
        request = byte;
    }
    [[nodiscard]] std::uint64_t sent_byte() const { return has_sent ? request : 0; }
};

/// The start of a rank's file: nothing else is written at each call.
struct Journal {
    /// With so many, finding the counters again costs a call less than 10 ns.
    static constexpr std::size_t most_entries = 1023;

    /// The call that the thread is in that called MPI_Init, since when.
    std::int64_t current_since_ticks = 0;
    Call current = Call::none;
    /// Those before are counted.
    std::uint32_t first = 0;
    /// Those from here on are not yet written.
    std::uint32_t end = 0;
    alignas(cache_line_byte) std::array<Entry, most_entries> entries{};
};

static_assert(sizeof(Entry) == cache_line_byte &&
              sizeof(Journal) == (Journal::most_entries + 1) * cache_line_byte);

}  // namespace tare::profile
