// SPDX-License-Identifier: Apache-2.0
// How many bytes a message or a transfer has.
#pragma once

#include "profile/library/abi.hpp"
#include "profile/library/mpi.hpp"

namespace tare::profile {

/// The sizes of types. That of the last one is nearest at hand if it is among the commonest: other handles
/// may come to mean another type.
class TypeSizes {
  public:
    /// Of `count` elements, without the gaps between them.
    [[nodiscard]] std::uint64_t data_byte(const Mpi& mpi, int count, MPI_Datatype type) {
        if (count <= 0) [[unlikely]] {
            return 0;
        }
        if (type != last_.handle) [[unlikely]] {
            return static_cast<std::uint64_t>(count) * look_up(mpi, type);
        }
        return static_cast<std::uint64_t>(count) * last_.byte;
    }

  private:
    [[nodiscard, gnu::noinline]] std::uint64_t look_up(const Mpi& mpi, MPI_Datatype type);

    CommonType last_{};
};

}  // namespace tare::profile
