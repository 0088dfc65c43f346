// SPDX-License-Identifier: Apache-2.0
#include "profile/library/profile.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "profile/library/modules.hpp"
#include "profile/report.hpp"

namespace tare::profile {

namespace {

template <std::size_t size>
void put(std::array<char, size>& place, std::string_view text) {
    const auto end = std::copy_n(text.begin(), std::min(text.size(), size - 1), place.begin());
    std::fill(end, place.end(), '\0');
}

int world_rank(const Mpi& mpi) {
    int rank = 0;
    mpi.Comm_rank(mpi.world, &rank);
    return rank;
}

int world_ranks(const Mpi& mpi) {
    int ranks = 0;
    mpi.Comm_size(mpi.world, &ranks);
    return ranks;
}

int thread_level(const Mpi& mpi) {
    int level = 0;
    mpi.Query_thread(&level);
    return level;
}

std::string host_name() {
    std::array<char, RankRecord::path_size> name{};
    ::gethostname(name.data(), name.size() - 1);
    return name.data();
}

/// "Open MPI v4.1.4, package: ..." up to its comma, MPICH's several lines of "Name:", a tab and "value" up to
/// the first one's end.
std::string library_name(const Mpi& mpi) {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 1> text{};
    int length = 0;
    mpi.Get_library_version(text.data(), &length);
    std::string whole{text.data()};
    std::replace(whole.begin(), whole.end(), '\t', ' ');
    return whole.substr(0, whole.find_first_of(",\n"));
}

void describe(RankRecord& record, const Mpi& mpi, const std::string& run) {
    std::error_code error;
    put(record.run, run);
    put(record.host, host_name());
    put(record.program, std::filesystem::read_symlink("/proc/self/exe", error).string());
    put(record.library, library_name(mpi));
    record.rank = world_rank(mpi);
    record.ranks = world_ranks(mpi);
    record.process = ::getpid();
    record.thread_level = thread_level(mpi);
    record.started_unix_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                                 std::chrono::system_clock::now().time_since_epoch())
                                 .count();
}

}  // namespace

std::string run_name(const Mpi& mpi) {
    const char* const name = std::getenv("PMIX_NAMESPACE");  // NOLINT(concurrency-mt-unsafe): nobody sets it
    if (name != nullptr) {
        return name;
    }
    std::array<char, RankRecord::name_size> first{};
    put(first, std::to_string(::getpid()) + "-" + std::to_string(now_ns()));
    mpi.Bcast(first.data(), sizeof first, mpi.byte, 0, mpi.world);
    return text_of(first);
}

Profile::Profile(const Mpi& mpi, const Initialization& initialization, const std::string& path,
                 const std::string& run)
    : clock_{kernel_counts_cycles()},
      is_threaded_{thread_level(mpi) == MPI_THREAD_MULTIPLE},
      watches_requests_{is_threaded_},
      communicators_{mpi},
      mpi_{&mpi},
      file_{RankFile::create(rank_path(path, world_rank(mpi)), world_ranks(mpi))},
      path_{path},
      loaded_{initialization.loaded},
      clock_comparison_{mpi, clock_} {
    counters_ = file_.counters();
    RankRecord& own = *counters_.record;
    journal_ = &own.journal;
    describe(own, mpi, run);
    note_modules(own);
    note_program(own.modules.front());
    const std::int64_t begin_ticks = clock_.ticks(initialization.begin);
    const std::int64_t end_ticks = clock_.ticks(initialization.end);
    own.loaded_ticks = clock_.ticks(initialization.loaded);
    own.init_begin_ticks = begin_ticks;
    own.journal.current = Call::none;
    count({.begin_ticks = begin_ticks,
           .end_ticks = end_ticks,
           .call = initialization.call,
           .share = Share::init,
           .is_call = true,
           .on_main = true});
    measure_clock();
    own.mark = RankRecord::mark_of_layout;  // last: a file without it is not whole
}

void Profile::note_program(const ModuleRecord& program) {
    program_begin_ = program.begin_address;
    program_byte_ = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(program.end_address - program.begin_address, UINT32_MAX));
}

void Profile::meet_thread(ThreadState& thread) {
    const unsigned number = std::min<unsigned>(++met_threads_, ThreadRecord::most);
    thread.number = static_cast<std::uint8_t>(number);
    record().threads.at(number - 1).system_number = ::gettid();
}

void Profile::measure_clock() const { record().ns_per_tick = clock_.ns_per_tick(loaded_, Moment::now()); }

}  // namespace tare::profile
