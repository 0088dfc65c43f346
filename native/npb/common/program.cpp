// SPDX-License-Identifier: Apache-2.0
#include "npb/common/program.hpp"

#include <mpi.h>

#include <cctype>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#include "common/json.hpp"
#include "common/system.hpp"
#include "npb/common/report.hpp"

namespace tare::npb {

namespace {

/// MPI from its start to its end.
class Session {
  public:
    Session(int& argument_count, char**& arguments) {
        // With --threads a rank has several, of which the first alone calls MPI.
        int granted = 0;
        MPI_Init_thread(&argument_count, &arguments, MPI_THREAD_FUNNELED, &granted);
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    Session(Session&&) = delete;
    Session& operator=(Session&&) = delete;
    ~Session() { MPI_Finalize(); }
};

std::string program_name(const Kernel& kernel) {
    std::string name = "npb-";
    for (const char letter : kernel.name) {
        name += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    }
    return name;
}

std::string usage(const Kernel& kernel) {
    std::string text = "usage: " + program_name(kernel) +
                       " [--class S|W|A|B|C|D] [--simd widest|plain|avx2|avx512] [--threads N]"
                       " [--messages own|reference] [--json] [--set NAME=NUMBER]...\nsettings:";
    for (const auto name : kernel.settings) {
        text += ' ' + std::string{name};
    }
    return text;
}

int exit_code(Verification verification) {
    if (verification == Verification::successful) {
        return 0;
    }
    return verification == Verification::unsuccessful ? exit_wrong : exit_unverified;
}

/// Says on standard error which value is wrong, where a caller looks for the reason of an exit code.
void complain_of_checks(const Report& report, const std::string& program) {
    for (const Check& check : report.outcome.checks) {
        if (check.published && !check.is_right()) {
            complain(program, "wrong " + check.name + ": " + json_number(check.computed) + ", published " +
                                  json_number(*check.published));
        }
    }
    if (report.outcome.wrong_here) {
        complain(program, "a rank found its part of the result wrong");
    }
    if (report.verification == Verification::not_performed) {
        complain(program, "no published value to verify this problem with");
    }
}

int tell(const Report& report, const std::string& program) {
    std::puts(report.arguments.json ? json(report).c_str() : text(report).c_str());
    complain_of_checks(report, program);
    return exit_code(report.verification);
}

/// All ranks end with the code of rank 0, which alone sees the whole result.
int run(const Kernel& kernel, const World& world, std::span<char* const> words) {
    const Arguments arguments = parse_arguments(words, kernel.settings);
    const Report report = gathered(std::string{kernel.name}, arguments, world, kernel.run(arguments, world));
    int code = world.rank == 0 ? tell(report, program_name(kernel)) : 0;
    MPI_Bcast(&code, 1, MPI_INT, 0, world.communicator);
    return code;
}

/// One rank without memory would leave the others waiting for it for ever.
[[noreturn]] void end_all(const Kernel& kernel, const World& world, const char* what) {
    complain(program_name(kernel), "rank " + std::to_string(world.rank) + ": " + what);
    MPI_Abort(world.communicator, exit_wrong);
    std::terminate();
}

}  // namespace

int run_program(const Kernel& kernel, int argument_count, char** arguments) {
    const std::span<char* const> given{arguments, static_cast<std::size_t>(argument_count)};
    if (argument_count == 2 && std::strcmp(given.back(), "--help") == 0) {
        std::puts(usage(kernel).c_str());
        return 0;
    }
    const Session session{argument_count, arguments};
    const World world = World::of(MPI_COMM_WORLD);
    try {
        return run(kernel, world, std::span{arguments, static_cast<std::size_t>(argument_count)}.subspan(1));
    } catch (const WrongUse& error) {
        if (world.rank == 0) {
            complain(program_name(kernel), std::string{error.what()} + "\n" + usage(kernel));
        }
        return exit_usage;
    } catch (const std::bad_alloc&) {
        end_all(kernel, world, "not enough memory for this class on so few ranks");
    } catch (const std::exception& error) {
        end_all(kernel, world, error.what());
    }
}

}  // namespace tare::npb
