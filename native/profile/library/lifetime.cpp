// SPDX-License-Identifier: Apache-2.0
// The start and the end of MPI, between which a profile is made.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string_view>

#include "common/system.hpp"
#include "profile/library/finish.hpp"
#include "profile/library/next.hpp"
#include "profile/library/profile.hpp"
#include "profile/library/seen.hpp"
#include "profile/tare_region.h"

namespace tare::profile {

namespace {

const Moment loaded = Moment::now();

/// Nothing is measured without TARE_PROFILE.
std::string asked_path() {
    const char* const path = std::getenv("TARE_PROFILE");  // NOLINT(concurrency-mt-unsafe): nobody sets it
    if (path == nullptr || *path == '\0') {
        return {};
    }
    std::error_code error;
    const auto whole = std::filesystem::absolute(path, error);
    return error ? path : whole.string();
}

/// Processes that others of this profile started with MPI_Comm_spawn are a run of their own.
bool is_spawned(const Mpi& mpi) {
    MPI_Comm parent{};
    return mpi.Comm_get_parent(&parent) == MPI_SUCCESS && parent != mpi.no_communicator;
}

std::string suffix_of_run(const Mpi& mpi, const std::string& run) {
    return is_spawned(mpi) ? ".spawned-" + run : "";
}

void start(const Mpi& mpi, const Initialization& initialization) {
    const std::string run = run_name(mpi);
    const std::string suffix = suffix_of_run(mpi, run);
    const std::string path = asked_path() + suffix;
    auto profile = std::make_unique<Profile>(mpi, initialization, path, run);
    if (profile->record().rank == 0) {
        ::unlink(path.c_str());  // what an earlier run left must not pass for this one's
    }
    profile->begin_trace(asked_trace(suffix, profile->record(), profile->clock()), initialization);
    profile->record().own_ticks = profile->clock().now() - profile->clock().ticks(initialization.end);
    this_thread().is_measured = true;
    active_profile().store(profile.release(), std::memory_order_release);
}

struct FamilyWords {
    std::string_view kind;
    std::string_view library;
};

constexpr FamilyWords open_mpi_words{.kind = "Open MPI", .library = "libtareprof.so"};
constexpr FamilyWords mpich_words{.kind = "MPICH or its like", .library = "libtareprof-mpich.so"};
constexpr const FamilyWords& own_words = own_family == Family::open_mpi ? open_mpi_words : mpich_words;
constexpr const FamilyWords& other_words = own_family == Family::open_mpi ? mpich_words : open_mpi_words;

/// The two may stand before a program together: then each is silent for the other.
bool is_left_to_the_other(Family family) {
    void* const other = ::dlopen(std::string{other_words.library}.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (other != nullptr) {
        ::dlclose(other);
    }
    const bool is_for_either = family == Family::other;
    return other != nullptr && family != own_family && (!is_for_either || own_family == Family::mpich);
}

/// By either kind's name for it; 0 where none of them started the program.
bool is_first_rank() {
    for (const char* const name : {"PMI_RANK", "OMPI_COMM_WORLD_RANK"}) {
        const char* const rank = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets it
        if (rank != nullptr) {
            return std::string_view{rank} == "0";
        }
    }
    return true;
}

std::string why_not(Family family) {
    const std::string known{own_words.kind};
    switch (family) {
        case own_family:
            return "the program's " + known + " lacks calls that the profiler needs";
        case Family::other:
            return "the program's MPI is not " + known + ", and of no kind that is known";
        default:
            return "the program's MPI is not " + known + " but " + std::string{other_words.kind} + ": load " +
                   std::string{other_words.library} + " instead";
    }
}

/// Once for a job.
void complain_of_other_mpi() {
    const Family of_program = family();
    if (is_first_rank() && !is_left_to_the_other(of_program)) {
        complain("tareprof", "no profile: " + why_not(of_program));
    }
}

void try_to_start(const Initialization& initialization) {
    if (asked_path().empty()) {
        if (asks_for_trace() && is_first_rank() && !is_left_to_the_other(family())) {
            complain("tareprof", "no trace: set TARE_PROFILE, which asks for the profile, as well");
        }
        return;
    }
    static const auto mpi = Mpi::find();  // the profile keeps a reference
    if (!mpi) {
        complain_of_other_mpi();
        return;
    }
    try {
        start(*mpi, initialization);
    } catch (const std::exception& error) {
        complain("tareprof", std::string{"no profile of this rank: "} + error.what());
    }
}

template <typename Next>
int initialize(Call call, Next next) {
    int& depth = this_thread().depth;
    const Moment begin = Moment::now();
    ++depth;
    const int code = next();
    --depth;
    const Moment end = Moment::now();
    if (depth == 0 && code == MPI_SUCCESS) {
        try_to_start({.call = call, .loaded = loaded, .begin = begin, .end = end});
    }
    return code;
}

int initialize(Layer layer, int* argument_count, char*** arguments) {
    auto* const next = next_function<decltype(::MPI_Init)>(Call::Init, layer);
    return initialize(Call::Init, [&] { return next(argument_count, arguments); });
}

int initialize(Layer layer, int* argument_count, char*** arguments, int required, int* provided) {
    auto* const next = next_function<decltype(::MPI_Init_thread)>(Call::Init_thread, layer);
    return initialize(Call::Init_thread, [&] { return next(argument_count, arguments, required, provided); });
}

int finalize(Layer layer) {
    auto* const next = next_function<decltype(::MPI_Finalize)>(Call::Finalize, layer);
    int& depth = this_thread().depth;
    ++depth;
    if (const std::unique_ptr<Profile> profile{depth == 1 ? active_profile().exchange(nullptr) : nullptr}) {
        finish(*profile);
    }
    const int code = next();
    --depth;
    return code;
}

/// What another tool that comes next may ask for beside the level: it is passed on as it came in registers.
using Further = void*;

/// A begin or an end of a region; other levels are other tools' affair. `name` has a meaning with Tare's own
/// alone.
void mark_region(int level, const void* name) {
    Profile* const profile = active_profile().load(std::memory_order_acquire);
    const bool is_named = level == TARE_REGION_BEGINS || level == TARE_REGION_ENDS;
    if (profile == nullptr || !this_thread().is_measured || (!is_named && level != 0 && level != 1) ||
        (is_named && name == nullptr)) {
        return;
    }
    const std::string_view region = is_named ? static_cast<const char*>(name) : "";
    const auto lock = profile->lock();
    level == 1 || level == TARE_REGION_BEGINS ? profile->enter_region(region) : profile->leave_region(region);
}

/// The call itself is free of measurement: it does nothing in MPI.
int mark(const char* name, int level, Further first, Further second, Further third) {
    int& depth = this_thread().depth;
    if (depth == 0) {
        mark_region(level, first);
    }
    ++depth;
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): what dlsym(3) finds is a function
    auto* const next = reinterpret_cast<int (*)(int, Further, Further, Further)>(find_next(name));
    const int code = next(level, first, second, third);
    --depth;
    return code;
}

/// The one call of which only the record is marked: it does not return.
int abort(const char* name, Comm communicator, int code) {
    if (Profile* const profile = active_profile().load(std::memory_order_acquire)) {
        profile->record().abort_code = code;
        profile->record().stage = Stage::aborted;
    }
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): what dlsym(3) finds is a function
    return reinterpret_cast<int (*)(Comm, int)>(find_next(name))(communicator, code);
}

/// A process that ends by itself, but not by MPI_Finalize. A fork of it shares the file and is not meant.
[[gnu::destructor]] void note_exit() {
    Profile* const profile = active_profile().load(std::memory_order_acquire);
    if (profile != nullptr && profile->record().process == ::getpid() &&
        profile->record().stage == Stage::running) {
        profile->record().stage = Stage::exited;
    }
}

}  // namespace

TARE_SEEN(MPI_Init, (int* argument_count, char*** arguments)) {
    return initialize(Layer::mpi, argument_count, arguments);
}
TARE_SEEN(PMPI_Init, (int* argument_count, char*** arguments)) {
    return initialize(Layer::pmpi, argument_count, arguments);
}
TARE_SEEN(MPI_Init_thread, (int* argument_count, char*** arguments, int required, int* provided)) {
    return initialize(Layer::mpi, argument_count, arguments, required, provided);
}
TARE_SEEN(PMPI_Init_thread, (int* argument_count, char*** arguments, int required, int* provided)) {
    return initialize(Layer::pmpi, argument_count, arguments, required, provided);
}
TARE_SEEN(MPI_Finalize, ()) { return finalize(Layer::mpi); }
TARE_SEEN(PMPI_Finalize, ()) { return finalize(Layer::pmpi); }
TARE_SEEN(MPI_Abort, (Comm communicator, int code)) { return abort("MPI_Abort", communicator, code); }
TARE_SEEN(PMPI_Abort, (Comm communicator, int code)) { return abort("PMPI_Abort", communicator, code); }

TARE_SEEN(MPI_Pcontrol, (int level, Further first, Further second, Further third)) {
    return mark("MPI_Pcontrol", level, first, second, third);
}
TARE_SEEN(PMPI_Pcontrol, (int level, Further first, Further second, Further third)) {
    return mark("PMPI_Pcontrol", level, first, second, third);
}

}  // namespace tare::profile
