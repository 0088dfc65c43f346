// SPDX-License-Identifier: Apache-2.0
// By which name, and from where in the program a call was made.
#pragma once

#include <bit>
#include <cstdint>

#include "profile/library/next.hpp"

namespace tare::profile {

/// Both in one word, as an address leaves its first bit free: of a call with many arguments each further one
/// goes through memory.
class Caller {
  public:
    Caller(Layer layer, std::uint64_t site) : word_{site | (layer == Layer::pmpi ? by_pmpi : 0)} {}

    [[nodiscard]] Layer layer() const { return (word_ & by_pmpi) != 0 ? Layer::pmpi : Layer::mpi; }
    /// The address that the call returns to.
    [[nodiscard]] std::uint64_t site() const { return word_ & ~by_pmpi; }

  private:
    static constexpr std::uint64_t by_pmpi = std::uint64_t{1} << 63U;

    std::uint64_t word_;
};

/// Where the program called a function of MPI's Fortran interfaces, which then called by PMPI_ and is
/// returned to at `site`, with its frame from `stack` on; `site` if that is in none of them.
[[nodiscard]] std::uint64_t behind_fortran(std::uint64_t site, std::uint64_t stack);

}  // namespace tare::profile

// NOLINTBEGIN(cppcoreguidelines-macro-usage): of the function in which they stand
#define TARE_CALLER_OF_MPI                                                                     \
    ::tare::profile::Caller {                                                                  \
        ::tare::profile::Layer::mpi, std::bit_cast<std::uint64_t>(__builtin_return_address(0)) \
    }
#define TARE_CALLER_OF_PMPI                                                                            \
    ::tare::profile::Caller {                                                                          \
        ::tare::profile::Layer::pmpi,                                                                  \
            ::tare::profile::behind_fortran(std::bit_cast<std::uint64_t>(__builtin_return_address(0)), \
                                            std::bit_cast<std::uint64_t>(__builtin_dwarf_cfa()))       \
    }
// NOLINTEND(cppcoreguidelines-macro-usage)
