// SPDX-License-Identifier: Apache-2.0
#include "profile/library/sizes.hpp"

#include <algorithm>

namespace tare::profile {

std::uint64_t other_type_byte(const Mpi& mpi, MPI_Datatype type) {
    MPI_Count size = 0;
    mpi.Type_size_x(type, &size);
    return static_cast<std::uint64_t>(std::max<MPI_Count>(size, 0));
}

}  // namespace tare::profile
