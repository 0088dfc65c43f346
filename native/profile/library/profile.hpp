// SPDX-License-Identifier: Apache-2.0
// The profile of this process while it is made.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "profile/library/caller.hpp"
#include "profile/library/clock.hpp"
#include "profile/library/clock_comparison.hpp"
#include "profile/library/communicators.hpp"
#include "profile/library/meeting_log.hpp"
#include "profile/library/message_log.hpp"
#include "profile/library/mpi.hpp"
#include "profile/library/requests.hpp"
#include "profile/library/sizes.hpp"
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

/// What each call needs lies in one line of the cache. Each further line costs a call that finds it displaced
/// by the program's data as much time as it takes to work with.
class Profile {
  public:
    /// Of a process whose MPI_Init has just returned; `path` is the run's file, `run` its name. `mpi`
    /// outlives it.
    Profile(const Mpi& mpi, const Initialization& initialization, const std::string& path,
            const std::string& run);

    [[nodiscard]] const Clock& clock() const { return clock_; }
    [[nodiscard]] const Mpi& mpi() const { return *mpi_; }
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
    [[nodiscard]] std::mutex& mutex() { return mutex_; }
    [[nodiscard]] std::unique_lock<std::mutex> lock() {
        if (is_threaded_) [[unlikely]] {
            return std::unique_lock{mutex_};
        }
        return {};
    }

    /// Null: nobody asked for one.
    [[nodiscard]] Trace* trace() const { return is_traced_ ? trace_.get() : nullptr; }
    /// From here on; `initialization` comes first.
    void begin_trace(std::unique_ptr<Trace> trace, const Initialization& initialization);
    void end_trace(const RankClock& clock);
    /// What comes next in the trace begins a request: its number, which its end will tell; 0 without a trace.
    std::uint32_t number_request() { return is_traced_ ? number_ = trace_->next_request() : 0; }
    void trace(const Entry& entry);

    /// How long a tick is, by all of the time since the library was loaded.
    void measure_clock() const;

    /// A call of the thread that called MPI_Init begins: should it be the last, the file tells.
    void enter(Call call, std::int64_t begin_ticks) const {
        journal_->current_since_ticks = begin_ticks;
        journal_->current = call;
    }
    /// What a call did, which is counted later.
    [[gnu::always_inline]] void write_down(const Entry& entry) {
        std::span{journal_->entries}[journal_->end] = entry;
        std::atomic_signal_fence(std::memory_order_release);  // whole before it counts: we may be killed here
        if (++journal_->end == Journal::most_entries) [[unlikely]] {
            settle_full();
        }
    }
    void leave() const { journal_->current = Call::none; }

    [[nodiscard]] ProgramRange program() const {
        return {.begin_address = program_begin_, .byte = program_byte_};
    }
    /// Of `count` elements of a type.
    [[nodiscard]] std::uint64_t data_byte(int count, MPI_Datatype type) {
        return sizes_.data_byte(*mpi_, count, type);
    }

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
        return journal_->end - journal_->first >= backlog && is_long_ && !is_threaded_;
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
    /// Whether it matters before the end of requests what they are: where threads call at once, and once a
    /// transfer from or to a file may be under way.
    [[nodiscard]] bool watches_requests() const { return watches_requests_; }
    /// Whether anything may be known of a request, so that its end is to be written down.
    [[nodiscard]] bool expects(RequestKey key) const { return is_threaded_ || expected_.has(key); }
    void expect(RequestKey key) { expected_.add(key); }
    void track(MPI_Request request, Tracked tracked) {
        expect(key_of(request));
        watches_requests_ = watches_requests_ || tracked.of_file();
        requests().put(key_of(request), std::move(tracked));
    }

  private:
    /// So many that finding the counters again takes less than counting.
    static constexpr std::uint32_t backlog = 256;
    /// A microsecond's.
    static constexpr std::uint32_t some = 16;

    void note_program(const ModuleRecord& program);
    void settle_full();
    void settle_until(std::uint32_t end);
    void leave(RegionRecord& region);
    void log(const Entry& entry);
    void meet(const Entry& entry);
    void post(const Entry& entry);
    void end(const Entry& entry);
    void end_receive(const Entry& entry, const Tracked& tracked);
    void describe_traced_end(const Entry& entry, TraceRecord& record);

    Expected expected_;
    /// From here on a line of what each call needs, of which the communicators' first members are the last.
    Journal* journal_ = nullptr;
    std::uint64_t program_begin_ = 0;
    std::uint32_t program_byte_ = 0;
    Clock clock_;
    bool is_threaded_;
    bool watches_requests_;
    bool is_traced_ = false;
    TypeSizes sizes_;
    Communicators communicators_;
    RankCounters counters_{};
    /// Whether the journal was full once.
    bool is_long_ = false;
    const Mpi* mpi_;
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
