// SPDX-License-Identifier: Apache-2.0
// The start and the end of MPI, between which a profile is made.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "common/system.hpp"
#include "profile/library/finish.hpp"
#include "profile/library/next.hpp"
#include "profile/library/scope.hpp"
#include "profile/library/seen.hpp"

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

std::string path_of_run(const Mpi& mpi) {
    const char* const job = std::getenv("PMIX_NAMESPACE");  // NOLINT(concurrency-mt-unsafe): nobody sets it
    return asked_path() + (is_spawned(mpi) ? ".spawned-" + std::string{job == nullptr ? "" : job} : "");
}

void start(const Mpi& mpi, const Initialization& initialization) {
    const std::string path = path_of_run(mpi);
    auto profile = std::make_unique<Profile>(mpi, initialization, path);
    if (profile->record().rank == 0) {
        ::unlink(path.c_str());  // what an earlier run left must not pass for this one's
    }
    profile->record().own_ticks = profile->clock().now() - profile->clock().ticks(initialization.end);
    this_thread().is_measured = true;
    active_profile().store(profile.release(), std::memory_order_release);
}

/// Once for a job: MPICH and its like name each process's rank so.
void complain_of_other_mpi() {
    const char* const rank = std::getenv("PMI_RANK");  // NOLINT(concurrency-mt-unsafe): nobody sets it
    if (rank == nullptr || std::string_view{rank} == "0") {
        complain("tareprof", "no profile: the program's MPI is not Open MPI, whose calls alone are known");
    }
}

void try_to_start(const Initialization& initialization) {
    if (asked_path().empty()) {
        return;
    }
    const auto mpi = Mpi::find();
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
    const Scope scope;
    if (scope.measures()) {
        const std::unique_ptr<Profile> profile{active_profile().exchange(nullptr)};
        finish(*profile);
    }
    return next();
}

/// The one call of which only the record is marked: it does not return.
int abort(const char* name, MPI_Comm communicator, int code) {
    if (Profile* const profile = active_profile().load(std::memory_order_acquire)) {
        profile->record().abort_code = code;
        profile->record().stage = Stage::aborted;
    }
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): what dlsym(3) finds is a function
    return reinterpret_cast<decltype(&::MPI_Abort)>(find_next(name))(communicator, code);
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

TARE_SEEN int MPI_Init(int* argument_count, char*** arguments) {
    return initialize(Layer::mpi, argument_count, arguments);
}
TARE_SEEN int PMPI_Init(int* argument_count, char*** arguments) {
    return initialize(Layer::pmpi, argument_count, arguments);
}
TARE_SEEN int MPI_Init_thread(int* argument_count, char*** arguments, int required, int* provided) {
    return initialize(Layer::mpi, argument_count, arguments, required, provided);
}
TARE_SEEN int PMPI_Init_thread(int* argument_count, char*** arguments, int required, int* provided) {
    return initialize(Layer::pmpi, argument_count, arguments, required, provided);
}
TARE_SEEN int MPI_Finalize() { return finalize(Layer::mpi); }
TARE_SEEN int PMPI_Finalize() { return finalize(Layer::pmpi); }
TARE_SEEN int MPI_Abort(MPI_Comm communicator, int code) { return abort("MPI_Abort", communicator, code); }
TARE_SEEN int PMPI_Abort(MPI_Comm communicator, int code) { return abort("PMPI_Abort", communicator, code); }

}  // namespace tare::profile
