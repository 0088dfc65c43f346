// SPDX-License-Identifier: Apache-2.0
// By which name, and from where in the program a call was made.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#include "profile/library/frame.hpp"
#include "profile/library/next.hpp"

namespace tare::profile {

struct Caller {
    Layer layer;
    /// The address that the call returns to.
    std::uint64_t site;
    /// Where the frame of what called by PMPI_ begins; 0 of a call by MPI_.
    std::uint64_t stack;
};

/// The memory of the program itself, without its libraries; of more than 4 GiB the first.
struct ProgramRange {
    std::uint64_t begin_address;
    std::uint32_t byte;

    [[nodiscard]] bool contains(std::uint64_t address) const { return address - begin_address < byte; }
};

/// Whether a place is in an interface for Fortran, which is found out once.
[[nodiscard]] Frame frame_of(std::uint64_t site);

/// Where the function returns to whose frame ends at `end`: the word below it says so (System V ABI for
/// x86-64, section 3.2.2).
[[nodiscard]] inline std::uint64_t return_address(std::uint64_t end) {
    return *std::bit_cast<const std::uint64_t*>(end - Frame::word_byte);
}

/// Where the program called a function of MPI's Fortran interfaces, which then called by PMPI_ and is
/// returned to at `site`, with its frame from `stack` on; `site` if that is in none of them.
[[nodiscard]] std::uint64_t behind_fortran(std::uint64_t site, std::uint64_t stack);

/// The same, and quick where that was the interface that called last by this name, and the program called it.
[[nodiscard]] inline std::uint64_t site_in_program(std::uint64_t site, std::uint64_t stack,
                                                   ProgramRange program, std::atomic<Frame>& last) {
    if (program.contains(site)) {
        return site;
    }
    Frame frame = last.load(std::memory_order_relaxed);
    if (!frame.is_of(site)) [[unlikely]] {
        frame = frame_of(site);
        last.store(frame, std::memory_order_relaxed);
    }
    if (frame.byte() == 0) {
        return site;
    }
    stack += frame.byte();
    site = return_address(stack);
    return program.contains(site) ? site : behind_fortran(site, stack);
}

}  // namespace tare::profile

// NOLINTBEGIN(cppcoreguidelines-macro-usage): of the function in which they stand
#define TARE_CALLER_OF_MPI                                                                        \
    ::tare::profile::Caller {                                                                     \
        ::tare::profile::Layer::mpi, std::bit_cast<std::uint64_t>(__builtin_return_address(0)), 0 \
    }
#define TARE_CALLER_OF_PMPI                                                                      \
    ::tare::profile::Caller {                                                                    \
        ::tare::profile::Layer::pmpi, std::bit_cast<std::uint64_t>(__builtin_return_address(0)), \
            std::bit_cast<std::uint64_t>(__builtin_dwarf_cfa())                                  \
    }
// NOLINTEND(cppcoreguidelines-macro-usage)
