// SPDX-License-Identifier: Apache-2.0
#include "profile/library/sizes.hpp"

#include <algorithm>

namespace tare::profile {

std::uint64_t TypeSizes::look_up(const Mpi& mpi, MPI_Datatype type) {
    for (const CommonType& common : mpi.common_types) {
        if (common.handle == type) {
            last_ = common;
            return common.byte;
        }
    }
    MPI_Count byte = 0;
    mpi.Type_size_x(type, &byte);
    return static_cast<std::uint64_t>(std::max<MPI_Count>(byte, 0));
}

}  // namespace tare::profile
