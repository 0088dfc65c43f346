// SPDX-License-Identifier: Apache-2.0
// What the profiler itself asks of MPI, never through its own wrappers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "profile/library/abi.hpp"

namespace tare::profile {

// NOLINTBEGIN(cppcoreguidelines-macro-usage, bugprone-macro-parentheses): one list for the members and for
// their look-up
#define TARE_MPI_USED(USE)          \
    USE(Allgather)                  \
    USE(Alltoall)                   \
    USE(Alltoallv)                  \
    USE(Barrier)                    \
    USE(Bcast)                      \
    USE(Cartdim_get)                \
    USE(Comm_dup)                   \
    USE(Comm_free)                  \
    USE(Comm_get_parent)            \
    USE(Comm_group)                 \
    USE(Comm_rank)                  \
    USE(Comm_remote_group)          \
    USE(Comm_size)                  \
    USE(Comm_test_inter)            \
    USE(Dist_graph_neighbors_count) \
    USE(Gather)                     \
    USE(Gatherv)                    \
    USE(Get_library_version)        \
    USE(Graph_neighbors_count)      \
    USE(Group_free)                 \
    USE(Group_size)                 \
    USE(Group_translate_ranks)      \
    USE(Query_thread)               \
    USE(Recv)                       \
    USE(Send)                       \
    USE(Topo_test)                  \
    USE(Type_commit)                \
    USE(Type_contiguous)            \
    USE(Type_free)                  \
    USE(Type_size_x)

struct CommonType {
    MPI_Datatype handle;
    std::uint64_t byte;
};

inline constexpr std::size_t common_type_count = 7;

/// The program's own MPI.
[[nodiscard]] Family family();

/// The functions by their names without `MPI_`, and the few handles. This library is not linked to MPI: it
/// must load into programs that have none.
struct Mpi {
    /// The commonest ones of C and Fortran. Their sizes are known without a way through MPI's own code, which
    /// the program's data have displaced from the caches; other handles may come to mean another type.
    std::array<CommonType, common_type_count> common_types;
#define TARE_MEMBER(name) decltype(&::PMPI_##name) name;
    TARE_MPI_USED(TARE_MEMBER)
#undef TARE_MEMBER
    MPI_Comm world;
    MPI_Comm no_communicator;
    MPI_Request no_request;
    MPI_Datatype byte;

    /// Nothing when the program's MPI is of another family than this library was compiled for: it has other
    /// handles and another status.
    [[nodiscard]] static std::optional<Mpi> find();
};
// NOLINTEND(cppcoreguidelines-macro-usage, bugprone-macro-parentheses)

}  // namespace tare::profile
