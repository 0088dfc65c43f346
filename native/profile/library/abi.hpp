// SPDX-License-Identifier: Apache-2.0
// Where the binary interfaces of MPI libraries differ. This library is compiled once for each that there is a
// header of: a handle is an address in Open MPI and a number in MPICH, Intel MPI, MVAPICH and Cray's MPI.
#pragma once

#include <mpi.h>

#include <bit>
#include <cstdint>
#include <type_traits>

namespace tare::profile {

/// MPI libraries that programs can be exchanged between. MPICH and its kind agreed on that in 2013.
enum class Family : std::uint8_t { open_mpi, mpich, other };

template <typename Handle>
[[nodiscard]] std::uint64_t bits_of(Handle handle) {
    if constexpr (std::is_pointer_v<Handle>) {
        return std::bit_cast<std::uint64_t>(handle);
    } else {
        return static_cast<std::uint32_t>(handle);
    }
}

template <typename Handle>
[[nodiscard]] Handle handle_of(std::uint64_t bits) {
    if constexpr (std::is_pointer_v<Handle>) {
        return std::bit_cast<Handle>(bits);
    } else {
        return static_cast<Handle>(static_cast<std::uint32_t>(bits));
    }
}

/// A handle as the program passes it, in a whole register. Should its MPI not be of this library's kind, that
/// goes on as it came: a number's type would cut an address. In registers and on the stack a structure of one
/// word is passed as the word (System V ABI for x86-64, section 3.2.3; AAPCS64, section 6.8.2).
struct WordOfNumber {
    std::uint64_t bits;

    // NOLINTNEXTLINE(google-explicit-constructor, hicpp-explicit-conversions): it is that handle
    operator int() const { return handle_of<int>(bits); }
};

template <typename Handle>
using Word = std::conditional_t<std::is_pointer_v<Handle>, Handle, WordOfNumber>;

using Comm = Word<MPI_Comm>;
using Datatype = Word<MPI_Datatype>;
using Group = Word<MPI_Group>;
using Info = Word<MPI_Info>;
using Op = Word<MPI_Op>;
using Request = Word<MPI_Request>;
using Win = Word<MPI_Win>;

#ifdef OPEN_MPI

inline constexpr Family own_family = Family::open_mpi;

/// What a receive or a read really brought: the library keeps it there, and its own functions that tell it
/// are seldom in the caches.
[[nodiscard]] inline std::uint64_t data_byte(const MPI_Status& status) { return status._ucount; }

/// As MPI_Test_cancelled tells, without its way through libraries that the program's own data have displaced.
[[nodiscard]] inline bool is_cancelled(const MPI_Status& status) { return status._cancelled != 0; }

#else

inline constexpr Family own_family = Family::mpich;

/// As above. The upper 31 bits lie above the mark of what was cancelled.
[[nodiscard]] inline std::uint64_t data_byte(const MPI_Status& status) {
    constexpr unsigned low_bits = 32;
    const auto high =
        static_cast<std::uint64_t>(static_cast<std::uint32_t>(status.count_hi_and_cancelled) >> 1U);
    return high << low_bits | static_cast<std::uint32_t>(status.count_lo);
}

[[nodiscard]] inline bool is_cancelled(const MPI_Status& status) {
    return (static_cast<std::uint32_t>(status.count_hi_and_cancelled) & 1U) != 0;
}

#endif

}  // namespace tare::profile
