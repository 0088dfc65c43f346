// SPDX-License-Identifier: Apache-2.0
// A resident MPI program: rank 0 waits for turns on standard input and wakes the others, all do a slice of a
// piece of work, and rank 0 answers how long that took.
#include <mpi.h>

#include <array>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>

#include "common/exec.hpp"
#include "common/system.hpp"
#include "slices/mpi/messages.hpp"
#include "slices/mpi/nodes.hpp"
#include "slices/mpi/world.hpp"
#include "slices/options.hpp"
#include "slices/serve.hpp"

namespace {

using namespace tare::slices;

constexpr std::array names{"latency", "messages", "allreduce"};

Makers makers(const Options& options) {
    constexpr std::size_t small_byte = 8;
    constexpr std::size_t kibibyte = 1024;
    const std::size_t large_byte = options.message_kib * kibibyte;
    return {{names[0], [] { return make_ping_pong(small_byte); }},
            {names[1], [large_byte] { return make_ping_pong(large_byte); }},
            {names[2], make_allreduce}};
}

/// What rank 0 tells the others of a turn; a count of 0 ends the program.
struct Order {
    std::uint64_t piece = 0;
    std::uint64_t count = 0;
};

/// Throws `std::invalid_argument`.
Order order_of(const Turn& turn) {
    for (std::size_t piece = 0; piece < names.size(); ++piece) {
        if (turn.piece == names.at(piece)) {
            return {.piece = piece, .count = turn.count};
        }
    }
    throw std::invalid_argument("there is no piece '" + turn.piece + "'");
}

class Ranks {
  public:
    explicit Ranks(const Options& options) : nodes_{options.node_ranks}, pieces_{makers(options)} {}

    /// Of rank 0.
    Taken lead(const Turn& turn) {
        Order order = order_of(turn);
        nodes_.wake_all();
        return take_part(order);
    }

    void end() {
        Order over;
        nodes_.wake_all();
        MPI_Bcast(&over, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    }

    /// Of all other ranks.
    void follow() {
        for (Order order{.count = 1}; order.count != 0;) {
            nodes_.sleep();
            static_cast<void>(take_part(order));
        }
    }

  private:
    /// Rank 0's order becomes everybody's.
    Taken take_part(Order& order) {
        MPI_Bcast(&order, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        if (order.count == 0) {
            return {};
        }
        Piece& piece = pieces_.use(names.at(order.piece));
        MPI_Barrier(MPI_COMM_WORLD);
        piece.work(warming_units(order.count));
        MPI_Barrier(MPI_COMM_WORLD);
        const Meters meters{waited_};
        piece.work(order.count);
        MPI_Barrier(MPI_COMM_WORLD);
        Taken taken = meters.taken();
        taken.checksum = piece.checksum();
        return together(taken);
    }

    Nodes nodes_;
    Pieces pieces_;
    WaitedTime waited_;
};

int lead(const Options& options, Ranks& ranks) {
    int code = 0;
    try {
        serve(options, [&](const Turn& turn) { return ranks.lead(turn); });
    } catch (const std::invalid_argument& error) {
        tare::complain("slices-mpi", error.what());
        code = tare::exit_wrong_use;
    } catch (const std::exception& error) {
        tare::complain("slices-mpi", error.what());
        code = 1;
    }
    ranks.end();  // so that the others end too
    return code;
}

int run(std::span<char* const> arguments) {
    const bool first = tare::rank_in(MPI_COMM_WORLD) == 0;
    try {
        const Options options = parse_options(arguments);
        if (tare::size_of(MPI_COMM_WORLD) < 2) {
            throw std::invalid_argument("messages need 2 ranks or more; start it by mpirun");
        }
        Ranks ranks{options};
        if (first) {
            return lead(options, ranks);
        }
        ranks.follow();
    } catch (const std::invalid_argument& error) {
        if (first) {
            tare::complain("slices-mpi", error.what());
        }
        return tare::exit_wrong_use;
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const tare::Mpi mpi{&argc, &argv};
    return run(std::span<char* const>{argv, static_cast<std::size_t>(argc)}.subspan(1));
}
