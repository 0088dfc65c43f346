// SPDX-License-Identifier: Apache-2.0
// The profile of this process while it is made.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "profile/library/communicators.hpp"
#include "profile/library/message_log.hpp"
#include "profile/library/mpi.hpp"
#include "profile/library/requests.hpp"
#include "profile/rank_file.hpp"

namespace tare::profile {

/// MPI_Init's own time, and what was asked of it.
struct Initialization {
    Call call;
    std::int64_t loaded_ns;
    std::int64_t begin_ns;
    std::int64_t end_ns;
};

class Profile {
  public:
    /// Of a process whose MPI_Init has just returned; `path` is the run's file.
    Profile(const Mpi& mpi, const Initialization& initialization, const std::string& path);

    [[nodiscard]] const Mpi& mpi() const { return mpi_; }
    [[nodiscard]] RankRecord& record() const { return *counters_.record; }
    [[nodiscard]] CallRecord& row(Call call) const { return counters_.record->calls.at(index_of(call)); }
    [[nodiscard]] PeerRecord& peer(int world_rank) const {
        return counters_.peers[static_cast<std::size_t>(world_rank)];
    }
    [[nodiscard]] const RankCounters& counters() const { return counters_; }
    [[nodiscard]] Communicators& communicators() { return communicators_; }
    [[nodiscard]] Requests& requests() { return requests_; }
    [[nodiscard]] MatchedMessages& matched() { return matched_; }
    [[nodiscard]] MessageLog& log() { return log_; }
    [[nodiscard]] RankFile& file() { return file_; }
    [[nodiscard]] const std::string& path() const { return path_; }

    /// Held while counting, when threads may do so at once.
    [[nodiscard]] std::unique_lock<std::mutex> lock() {
        return threaded_ ? std::unique_lock{mutex_} : std::unique_lock<std::mutex>{};
    }

    /// A call of the thread that called MPI_Init begins: should it be the last, the file tells.
    void enter(Call call, std::int64_t begin_ns) const {
        record().current_since_ns = begin_ns;
        record().current = call;
    }
    /// It is over, and counts for a share of this rank's time.
    void leave(Share share, std::int64_t begin_ns, std::int64_t end_ns) const {
        record().share_ns.at(static_cast<std::size_t>(share)) += end_ns - begin_ns;
        record().known_until_ns = end_ns;
        record().current = Call::none;
    }

  private:
    Mpi mpi_;
    std::string path_;
    RankFile file_;
    RankCounters counters_;
    Communicators communicators_;
    Requests requests_;
    MatchedMessages matched_;
    MessageLog log_;
    std::mutex mutex_;
    bool threaded_;
};

/// What a thread does at present.
struct ThreadState {
    /// Calls of MPI's that contain each other: those inside of MPI are part of the outermost.
    int depth = 0;
    /// Whether it called MPI_Init: its time is the rank's time.
    bool is_measured = false;
};

/// The profile between MPI_Init and MPI_Finalize, else null. Calls come from the program with nothing of ours
/// in hand, so this must be found without.
[[nodiscard]] inline std::atomic<Profile*>& active_profile() {
    static constinit std::atomic<Profile*> profile{nullptr};
    return profile;
}

[[nodiscard]] inline ThreadState& this_thread() {
    thread_local constinit ThreadState state;
    return state;
}

}  // namespace tare::profile
