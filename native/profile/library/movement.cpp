// SPDX-License-Identifier: Apache-2.0
#include "profile/library/movement.hpp"

namespace tare::profile {

namespace {

Profile& profile() { return *active_profile().load(std::memory_order_relaxed); }

const Communicator& find(MPI_Comm communicator) { return *profile().communicators().find(communicator); }

/// A root in the tag of an entry; those of two sides have none that is a rank here.
std::int32_t noted(int root) { return root < 0 ? 0 : (root + 1) * (1 << part_bits); }

/// For a trace, if there is one.
void note_part(std::uint64_t byte) {
    if (Trace* const trace = profile().trace()) [[unlikely]] {
        trace->parts().note(byte);
    }
}

Neighbours neighbours_in_grid(MPI_Comm communicator) {
    int dimensions = 0;
    profile().mpi().Cartdim_get(communicator, &dimensions);
    return {.in = 2 * dimensions, .out = 2 * dimensions};
}

Neighbours neighbours_in_graph(MPI_Comm communicator) {
    int count = 0;
    profile().mpi().Graph_neighbors_count(communicator, find(communicator).rank, &count);
    return {.in = count, .out = count};
}

}  // namespace

void describe_move(Amount sent, Amount received, Entry& entry) {
    entry.did = Did::moved;
    if (sent.present) {
        entry.send(sent.byte);
    }
    entry.has_received = received.present;
    entry.received_byte = received.byte;
}

[[gnu::hot]] void describe_meeting(MPI_Comm communicator, std::int32_t part, Scope& scope) {
    const Communicator& known = *scope.profile().communicators().find(communicator);
    Entry& entry = scope.entry();
    entry.did = Did::met;
    entry.context = known.identity;
    entry.peer = known.members;
    entry.tag = part;
    if (Trace* const trace = scope.profile().trace()) [[unlikely]] {
        trace->describe(known);
        if (!trace->parts().empty()) {
            scope.profile().settle();  // what came before, so that the parts stand before this call alone
            trace->add_parts();
        }
    }
}

int Own::count() const {
    const Communicator& known = find(communicator);
    return std::span{counts, static_cast<std::size_t>(known.members)}[static_cast<std::size_t>(known.rank)];
}

int ranks(MPI_Comm communicator) { return find(communicator).ranks(); }

int members(MPI_Comm communicator) { return find(communicator).members; }

bool is_first(MPI_Comm communicator) { return find(communicator).rank == 0; }

bool at_root(int root, MPI_Comm communicator) {
    const Communicator& known = find(communicator);
    return known.has_two_sides ? root == MPI_ROOT : root == known.rank;
}

bool at_leaf(int root, MPI_Comm communicator) { return root >= 0 || !find(communicator).has_two_sides; }

bool below_root(int root, MPI_Comm communicator) {
    return at_leaf(root, communicator) && !at_root(root, communicator);
}

std::int32_t from_root(int root, MPI_Comm communicator) {
    return (at_root(root, communicator) ? part_is_awaited : part_waits) | noted(root);
}

std::int32_t to_root(int root, MPI_Comm communicator) {
    return (at_root(root, communicator) ? among_all : part_is_awaited) | noted(root);
}

Neighbours neighbours(MPI_Comm communicator) {
    int topology = MPI_UNDEFINED;
    profile().mpi().Topo_test(communicator, &topology);
    if (topology == MPI_CART) {
        return neighbours_in_grid(communicator);
    }
    if (topology == MPI_GRAPH) {
        return neighbours_in_graph(communicator);
    }
    Neighbours found{};
    int weighted = 0;
    profile().mpi().Dist_graph_neighbors_count(communicator, &found.in, &found.out, &weighted);
    return found;
}

Amount bytes(int count, MPI_Datatype type) {
    return {.present = true, .byte = profile().data_byte(count, type)};
}

Amount bytes(const Own& count, MPI_Datatype type) { return bytes(count.count(), type); }

Amount bytes(const int* counts, MPI_Datatype type, int parts) {
    const std::uint64_t each_byte = bytes(1, type).byte;
    std::uint64_t elements = 0;
    for (const int count : std::span{counts, static_cast<std::size_t>(parts)}) {
        elements += static_cast<std::uint64_t>(count);
        note_part(static_cast<std::uint64_t>(count) * each_byte);
    }
    return {.present = true, .byte = elements * each_byte};
}

Amount bytes(const int* counts, const MPI_Datatype* types, int parts) {
    const std::span all{types, static_cast<std::size_t>(parts)};
    std::uint64_t byte = 0;
    std::size_t part = 0;
    for (const int count : std::span{counts, all.size()}) {
        const std::uint64_t part_byte = bytes(count, all[part++]).byte;
        byte += part_byte;
        note_part(part_byte);
    }
    return {.present = true, .byte = byte};
}

}  // namespace tare::profile
