// SPDX-License-Identifier: Apache-2.0
// Writes or reads files through MPI-IO, in one file of all ranks or one of each, and times each phase on
// every rank. What was written is read back, and every byte is compared: a wrong file is a failure.
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <span>
#include <stdexcept>
#include <string>

#include "common/exec.hpp"
#include "common/system.hpp"
#include "mpiio/cycle.hpp"
#include "mpiio/options.hpp"
#include "mpiio/report.hpp"
#include "mpiio/world.hpp"

namespace {

using namespace tare::mpiio;

constexpr auto program = "mpiio";
constexpr int exit_wrong = 1;

/// After the working directory, which is this run's own: several runs may share a folder for their files.
std::string own_name(const Options& options) {
    if (!options.name.empty()) {
        return "tare-mpiio-" + options.name;
    }
    std::array<char, PATH_MAX> path{};
    if (::getcwd(path.data(), path.size()) == nullptr) {
        tare::throw_errno("the working directory has no path");
    }
    const std::string directory{path.data()};
    return "tare-mpiio-" + directory.substr(directory.rfind('/') + 1);
}

/// Of rank 0. The exit code: whether every byte that was read is the one that was written.
int tell(const Options& options, const World& world, const std::vector<Point>& points) {
    std::puts(json(options, world, points).c_str());
    int code = 0;
    for (const Point& point : points) {
        if (point.wrong_byte != 0) {
            tare::complain(program, std::to_string(point.wrong_byte) + " of " +
                                        std::to_string(point.verified_byte) + " bytes read in records of " +
                                        std::to_string(point.record_byte) + " are not those written");
            code = exit_wrong;
        }
    }
    return code;
}

int run_all(std::span<char* const> arguments, const World& world) {
    const Options options = parse_options(arguments);
    const std::string name = World::from_first(world.is_first() ? own_name(options) : "");
    const std::vector<Point> points = run(options, world, name);
    int code = world.is_first() ? tell(options, world, points) : 0;
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return code;
}

/// One rank that fails would leave the others waiting for it for ever.
[[noreturn]] void end_all(const World& world, const std::string& what) {
    tare::complain(program, "rank " + std::to_string(world.rank()) + ": " + what);
    MPI_Abort(MPI_COMM_WORLD, exit_wrong);
    std::terminate();
}

}  // namespace

int main(int argc, char** argv) {
    static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));  // a file that grows too large is an error with a name
    const World world{argc, argv};
    try {
        return run_all(std::span<char* const>{argv, static_cast<std::size_t>(argc)}.subspan(1), world);
    } catch (const std::invalid_argument& error) {
        if (world.is_first()) {
            tare::complain(program, error.what());
        }
        return tare::exit_wrong_use;
    } catch (const std::bad_alloc&) {
        end_all(world, "there is no memory for a rank's share");
    } catch (const std::exception& error) {
        end_all(world, error.what());
    }
}
