// SPDX-License-Identifier: Apache-2.0
#include "slices/mpi/world.hpp"

#include <array>

namespace tare::slices {

Taken together(const Taken& own) {
    constexpr int figures = 3;
    const std::array<std::int64_t, figures> sent{own.cpu_ns, own.waited_ns.value_or(0),
                                                 own.waited_ns ? 1 : 0};
    std::array<std::int64_t, figures> sums{};
    std::uint64_t checksum = 0;
    MPI_Reduce(sent.data(), sums.data(), figures, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&own.checksum, &checksum, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank_in(MPI_COMM_WORLD) != 0) {
        return own;
    }
    Taken all = own;
    all.cpu_ns = sums[0];
    all.waited_ns = sums[2] == size_of(MPI_COMM_WORLD) ? std::optional{sums[1]} : std::nullopt;
    all.checksum = checksum;
    return all;
}

}  // namespace tare::slices
