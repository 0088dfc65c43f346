// SPDX-License-Identifier: Apache-2.0
// The profile of this process while it is made.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "profile/library/clock.hpp"
#include "profile/library/clock_comparison.hpp"
#include "profile/library/communicators.hpp"
#include "profile/library/meeting_log.hpp"
#include "profile/library/message_log.hpp"
#include "profile/library/mpi.hpp"
#include "profile/library/requests.hpp"
#include "profile/library/trace.hpp"
#include "profile/rank_file.hpp"

namespace tare::profile {

/// MPI_Init's own time, and what was asked of it.
struct Initialization {
    Call call;
    /// The library, before the program's first line.
    Moment loaded;
    Moment begin;
    Moment end;
};

/// The same in all ranks of a job, and another in each job: all call it together. Open MPI 4 and 5 name the
/// job by PMIx in all its processes; otherwise rank 0 names it.
[[nodiscard]] std::string run_name(const Mpi& mpi);

/// What a thread does at present.
struct ThreadState {
    /// Calls of MPI's that contain each other: those inside of MPI are part of the outermost.
    int depth = 0;
    /// Whether it called MPI_Init: its time is the rank's time.
    bool is_measured = false;
    /// Of all others, from 1 on in the order of their first calls; 0: it has made none.
    std::uint8_t number = 0;
};

/// What each call needs lies in front, in whole lines of the cache.
class alignas(cache_line_byte) Profile {
  public:
    /// Of a process whose MPI_Init has just returned; `path` is the run's file, `run` its name.
    Profile(const Mpi& mpi, const Initialization& initialization, const std::string& path,
            const std::string& run);

    [[nodiscard]] const Clock& clock() const { return clock_; }
    [[nodiscard]] const Mpi& mpi() const { return mpi_; }
    [[nodiscard]] RankRecord& record() const { return *counters_.record; }
    [[nodiscard]] const RankCounters& counters() const { return counters_; }
    [[nodiscard]] Communicators& communicators() { return communicators_; }
    [[nodiscard]] MatchedMessages& matched() { return matched_; }
    [[nodiscard]] MessageLog& log() { return log_; }
    [[nodiscard]] const MeetingLog& meetings() const { return meetings_; }
    [[nodiscard]] ClockComparison& clock_comparison() { return clock_comparison_; }
    [[nodiscard]] RankFile& file() { return file_; }
    [[nodiscard]] const std::string& path() const { return path_; }

    /// Whether threads may call at once; then this is held while something is written down or looked up.
    [[nodiscard]] bool is_threaded() const { return is_threaded_; }
    [[nodiscard]] std::unique_lock<std::mutex> lock() {
        if (is_threaded_) [[unlikely]] {
            return std::unique_lock{mutex_};
        }
        return {};
    }

    /// Null: nobody asked for one.
    [[nodiscard]] Trace* trace() const { return trace_.get(); }
    /// From here on; `initialization` comes first.
    void begin_trace(std::unique_ptr<Trace> trace, const Initialization& initialization);
    void end_trace(const RankClock& clock);
    /// What comes next in the trace begins a request: its number, which its end will tell; 0 without a trace.
    std::uint32_t number_request() { return trace_ ? number_ = trace_->next_request() : 0; }
    void trace(const Entry& entry);

    /// How long a tick is, by all of the time since the library was loaded.
    void measure_clock() const;

    /// A call of the thread that called MPI_Init begins: should it be the last, the file tells.
    void enter(Call call, std::int64_t begin_ticks) const {
        counters_.record->journal.current_since_ticks = begin_ticks;
        counters_.record->journal.current = call;
    }
    /// What a call did, which is counted later.
    [[gnu::always_inline]] void write_down(const Entry& entry) {
        Journal& journal = counters_.record->journal;
        std::span{journal.entries}[journal.end] = entry;
        std::atomic_signal_fence(std::memory_order_release);  // whole before it counts: we may be killed here
        if (++journal.end == Journal::most_entries) [[unlikely]] {
            is_long_ = true;
            settle();
        }
    }
    void leave() const { counters_.record->journal.current = Call::none; }

    /// Numbers a thread that did not call MPI_Init.
    void meet_thread(ThreadState& thread);

    /// Counts all that is written down.
    void settle();
    /// What comes between the two counts for the region too; once more while inside means nothing.
    void enter_region(std::string_view name);
    void leave_region(std::string_view name);
    void leave_regions();
    /// Whether there is enough to count while the program waits. What a short one has written down is left
    /// whole: should it be killed, even the receives that were open can be told from it.
    [[nodiscard]] bool has_backlog() const {
        const Journal& journal = counters_.record->journal;
        return is_long_ && !is_threaded_ && journal.end - journal.first >= backlog;
    }
    /// Counts for a microsecond or so; false if nothing is left then.
    bool settle_some();
    /// Counts one.
    void count(const Entry& entry);
    /// What is known of requests, with all counted that came before.
    [[nodiscard]] Requests& requests() {
        settle();
        return requests_;
    }
    /// Whether a transfer from or to a file may be under way.
    [[nodiscard]] bool has_files() const { return has_files_; }
    /// Whether anything may be known of a request, so that its end is to be written down.
    [[nodiscard]] bool expects(RequestKey key) const { return is_threaded_ || expected_.has(key); }
    void expect(RequestKey key) { expected_.add(key); }
    void track(MPI_Request request, Tracked tracked) {
        expect(key_of(request));
        has_files_ = has_files_ || tracked.of_file();
        requests().put(key_of(request), std::move(tracked));
    }

  private:
    /// So many that finding the counters again takes less than counting.
    static constexpr std::uint32_t backlog = 256;
    /// A microsecond's.
    static constexpr std::uint32_t some = 16;

    void settle_until(std::uint32_t end);
    void leave(RegionRecord& region);
    void log(const Entry& entry);
    void meet(const Entry& entry);
    void post(const Entry& entry);
    void end(const Entry& entry);
    void end_receive(const Entry& entry, const Tracked& tracked);
    void describe_traced_end(const Entry& entry, TraceRecord& record);

    Expected expected_;
    RankCounters counters_{};
    Clock clock_;
    bool is_threaded_;
    bool has_files_ = false;
    /// Whether the journal was full once.
    bool is_long_ = false;
    Mpi mpi_;
    Communicators communicators_;
    RankFile file_;
    Requests requests_;
    MessageLog log_;
    MeetingLog meetings_;
    MatchedMessages matched_;
    std::string path_;
    std::mutex mutex_;
    std::atomic<unsigned> met_threads_ = 0;
    Moment loaded_;
    ClockComparison clock_comparison_;
    std::unique_ptr<Trace> trace_;
    std::uint32_t number_ = 0;
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
