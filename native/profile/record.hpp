// SPDX-License-Identifier: Apache-2.0
// What one rank counts, in the bytes of its file: the profiled process writes there while it runs, so that
// nothing is lost when it is killed, and `profile-merge` reads it afterwards.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "profile/call_record.hpp"
#include "profile/journal.hpp"
#include "profile/regions.hpp"
#include "profile/sites.hpp"

namespace tare::profile {

inline constexpr double nanosecond_per_second = 1e9;

/// Messages between this rank and one other.
struct PeerRecord {
    std::uint64_t sent;
    std::uint64_t sent_byte;
    std::uint64_t received;
    std::uint64_t received_byte;
};

using CallRecords = std::array<CallRecord, call_count>;

/// A thread that calls MPI and did not call MPI_Init; the last of them stands for all that have no room.
struct ThreadRecord {
    static constexpr std::size_t most = 63;

    /// The system's number for it.
    std::int32_t system_number;
    std::uint64_t count;
    ShareTicks share_ticks;
};

/// How far a rank came.
enum class Stage : std::uint32_t { running, finalized, aborted, exited };

/// Why some or all of late senders cannot be told, the gravest last; `none` when everything can.
enum class Untold : std::uint32_t { none, full, communicator, senders, threads, withdrawn, unfinished };

/// How long this rank waited in receiving calls before the sender had so much as begun to send.
struct LateSenders {
    std::int64_t wait_ticks;
    /// The largest error of that, by the comparison of clocks; 0 where all read one.
    std::int64_t error_ticks;
    /// Receives for which it could be told, of all that ended.
    std::uint64_t told;
    std::uint64_t receives;
    Untold untold;
};

/// How long this rank waited in collective calls before all those that it needed had come to them.
struct CollectiveWaits {
    std::int64_t wait_ticks;
    std::int64_t error_ticks;
    /// Calls for which it could be told, of all that wait for others.
    std::uint64_t told;
    std::uint64_t calls;
    Untold untold;
};

/// The whole of a rank but its peers. Times are in ticks of the clock that the rank reads.
struct RankRecord {  // NOLINT(cppcoreguidelines-pro-type-member-init): a new file is all zeros
    static constexpr std::uint64_t mark_of_layout = 0x35302D666F727074;  // "tprof-05"
    static constexpr std::size_t name_size = 64;
    static constexpr std::size_t path_size = 256;

    Journal journal;
    std::uint64_t mark;
    /// Of all files of a run, so that another run's files are not mixed in.
    std::array<char, name_size> run;
    std::array<char, path_size> host;
    std::array<char, path_size> program;
    std::array<char, name_size> library;
    std::int32_t rank;
    std::int32_t ranks;
    std::int32_t process;
    /// MPI_THREAD_SINGLE to MPI_THREAD_MULTIPLE, 0 to 3.
    std::int32_t thread_level;
    std::int64_t started_unix_ns;
    double ns_per_tick;
    /// When the library was loaded, before the program's first line.
    std::int64_t loaded_ticks;
    std::int64_t init_begin_ticks;
    /// What the profiler itself took after MPI_Init, which is in no share.
    std::int64_t own_ticks;
    /// The end of the last call, or of MPI_Init: up to here the shares are known.
    std::int64_t known_until_ticks;
    /// Of the thread that called MPI_Init.
    ShareTicks share_ticks;
    Stage stage;
    std::int32_t abort_code;
    LateSenders late_senders;
    CollectiveWaits collective_waits;
    CallRecords calls;
    RegionTable regions;
    std::array<ThreadRecord, ThreadRecord::most> threads;
    SiteTable sites;
    ModuleTable modules;

    [[nodiscard]] double seconds(std::int64_t ticks) const {
        return static_cast<double>(ticks) * ns_per_tick / nanosecond_per_second;
    }
};

static_assert(std::is_trivially_copyable_v<RankRecord> && std::is_trivially_copyable_v<PeerRecord>);

/// One rank's counters wherever they lie. The last peer stands for all processes outside of MPI_COMM_WORLD.
struct RankCounters {
    RankRecord* record;
    std::span<PeerRecord> peers;
};

[[nodiscard]] constexpr std::size_t counters_byte(int ranks) {
    return sizeof(RankRecord) + (static_cast<std::size_t>(ranks) + 1) * sizeof(PeerRecord);
}

}  // namespace tare::profile
