// SPDX-License-Identifier: Apache-2.0
// How many bytes a message or a transfer has.
#pragma once

#include "profile/library/abi.hpp"
#include "profile/library/mpi.hpp"

namespace tare::profile {

/// Of a type that is none of the commonest.
[[nodiscard]] std::uint64_t other_type_byte(const Mpi& mpi, MPI_Datatype type);

[[nodiscard]] inline std::uint64_t type_byte(const Mpi& mpi, MPI_Datatype type) {
    for (const CommonType& common : mpi.common_types) {
        if (common.handle == type) {
            return common.byte;
        }
    }
    return other_type_byte(mpi, type);
}

/// Of `count` elements, without the gaps between them.
[[nodiscard]] inline std::uint64_t data_byte(const Mpi& mpi, int count, MPI_Datatype type) {
    return count > 0 ? static_cast<std::uint64_t>(count) * type_byte(mpi, type) : 0;
}

}  // namespace tare::profile
