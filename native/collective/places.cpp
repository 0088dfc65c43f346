// SPDX-License-Identifier: Apache-2.0
#include "collective/places.hpp"

#include "common/mpi.hpp"

namespace tare::collective {

namespace {

/// The least number of those ranks of `active` that can share memory with this one.
int node_of(MPI_Comm active) {
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(active, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    const int own = rank_in(active);
    int least = own;
    MPI_Allreduce(&own, &least, 1, MPI_INT, MPI_MIN, node);
    MPI_Comm_free(&node);
    return least;
}

int total(bool counts, MPI_Comm active) {
    const int own = counts ? 1 : 0;
    int sum = 0;
    MPI_Reduce(&own, &sum, 1, MPI_INT, MPI_SUM, 0, active);
    return sum;
}

}  // namespace

Places find_places(MPI_Comm active, MPI_Comm group) {
    const int node = node_of(active);
    int first = node;
    int last = node;
    MPI_Allreduce(&node, &first, 1, MPI_INT, MPI_MIN, group);
    MPI_Allreduce(&node, &last, 1, MPI_INT, MPI_MAX, group);
    return {.nodes = total(node == rank_in(active), active),
            .groups_in_node = total(rank_in(group) == 0 && first == last, active)};
}

}  // namespace tare::collective
