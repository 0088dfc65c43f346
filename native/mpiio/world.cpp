// SPDX-License-Identifier: Apache-2.0
#include "mpiio/world.hpp"

namespace tare::mpiio {

World::World(int& argument_count, char**& arguments) {
    MPI_Init(&argument_count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
}

std::vector<double> World::gathered(double own) const {
    std::vector<double> all(is_first() ? static_cast<std::size_t>(ranks_) : 0);
    MPI_Gather(&own, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return all;
}

std::uint64_t World::sum(std::uint64_t own) {
    std::uint64_t all = 0;
    MPI_Allreduce(&own, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

std::optional<std::uint64_t> World::largest(std::optional<std::uint64_t> own) {
    const std::uint64_t value = own.value_or(0);
    std::uint64_t most = 0;
    MPI_Allreduce(&value, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    const bool is_known = sum(own ? 0 : 1) == 0;
    return is_known ? std::optional{most} : std::nullopt;
}

std::string World::from_first(std::string text) {
    auto length = static_cast<int>(text.size());
    MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
    text.resize(static_cast<std::size_t>(length));
    MPI_Bcast(text.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
    return text;
}

}  // namespace tare::mpiio
