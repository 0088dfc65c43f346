// SPDX-License-Identifier: Apache-2.0
// Binds an MPI rank to one of its node's processors, or to as many as it has threads, then becomes the rank:
// pin [--threads N] COMMAND ARGUMENT...
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "common/exec.hpp"
#include "common/number.hpp"
#include "common/processors.hpp"
#include "common/system.hpp"

namespace {

constexpr std::string_view program = "pin";

/// The rank among this node's, as Open MPI, Intel MPI, MPICH or Slurm number it.
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

/// The ranks take the processors in turn, `threads` each, and begin again where there are more ranks than
/// that.
void bind_rank(unsigned rank, unsigned threads) {
    const auto allowed = tare::ProcessorSet::of_caller();
    std::vector<int> chosen;
    for (std::size_t thread = 0; thread < std::min<std::size_t>(threads, allowed.size()); ++thread) {
        chosen.push_back(allowed.at((std::size_t{rank} * threads + thread) % allowed.size()));
    }
    if (tare::ProcessorSet{chosen}.bind_caller() != 0) {
        tare::throw_errno("cannot bind to processor " + std::to_string(chosen.front()));
    }
}

/// What is to run, and how many processors each rank is given.
struct Order {
    unsigned threads = 1;
    std::span<char* const> command;
};

/// Throws `std::invalid_argument` that says what is wrong.
Order parse(std::span<char* const> words) {
    Order order{.command = words};
    if (!words.empty() && std::string_view{words[0]} == "--threads") {
        order.threads = words.size() > 1 ? tare::parse_number<unsigned>(words[1]).value_or(0) : 0;
        order.command = words.subspan(std::min<std::size_t>(words.size(), 2));
    }
    if (order.threads == 0 || order.command.empty()) {
        throw std::invalid_argument("write: pin [--threads N] COMMAND ARGUMENT..., with N of at least 1");
    }
    return order;
}

}  // namespace

int main(int argc, char** argv) {
    Order order;
    try {
        order = parse(std::span<char* const>{argv, static_cast<std::size_t>(argc)}.subspan(1));
    } catch (const std::invalid_argument& error) {
        tare::complain(program, error.what());
        return tare::exit_wrong_use;
    }
    try {
        if (const auto rank = local_rank()) {
            bind_rank(*rank, order.threads);
        }
    } catch (const std::exception& error) {
        tare::complain(program, error.what());
        return tare::exit_cannot_prepare;
    }
    return tare::become(program, order.command);
}
