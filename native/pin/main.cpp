// SPDX-License-Identifier: Apache-2.0
// Binds an MPI rank to one of its node's processors, then becomes the rank: pin COMMAND ARGUMENT...
#include <array>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/exec.hpp"
#include "common/number.hpp"
#include "common/processors.hpp"
#include "common/system.hpp"

namespace {

constexpr std::string_view program = "pin";

/// The rank among those of this node, as Open MPI, Intel MPI, MPICH or Slurm number it.
std::optional<unsigned> local_rank() {
    constexpr std::array names{"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_LOCAL_RANK",
                               "SLURM_LOCALID"};
    for (const char* const name : names) {
        if (const char* const text = std::getenv(name)) {
            const auto rank = tare::parse_number<unsigned>(text);
            if (!rank) {
                throw std::invalid_argument(std::string{name} + " is '" + text + "', not a rank");
            }
            return rank;
        }
    }
    return std::nullopt;
}

void bind_rank(unsigned rank) {
    const auto allowed = tare::ProcessorSet::of_caller();
    const int chosen = allowed.at(rank % allowed.size());
    if (tare::ProcessorSet{{chosen}}.bind_caller() != 0) {
        tare::throw_errno("cannot bind to processor " + std::to_string(chosen));
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::span<char* const> arguments{argv, static_cast<std::size_t>(argc)};
    if (arguments.size() < 2) {
        tare::complain(program, "write: pin COMMAND ARGUMENT...");
        return tare::exit_wrong_use;
    }
    try {
        if (const auto rank = local_rank()) {
            bind_rank(*rank);
        }
    } catch (const std::exception& error) {
        tare::complain(program, error.what());
        return tare::exit_cannot_prepare;
    }
    return tare::become(program, arguments.subspan(1));
}
