// SPDX-License-Identifier: Apache-2.0
#include "npb/common/buffer.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <limits>
#include <new>

namespace tare::npb {

namespace {

constexpr std::size_t huge_page_byte = std::size_t{2} << 20U;

}  // namespace

void FreeMemory::operator()(void* memory) const noexcept {
    std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc,cppcoreguidelines-owning-memory)
}

Allocation allocate(std::size_t count, std::size_t size_byte) {
    if (count > (std::numeric_limits<std::size_t>::max() - huge_page_byte) / size_byte) {
        throw std::bad_alloc{};
    }
    const std::size_t wanted_byte = count * size_byte;
    const bool is_large = wanted_byte >= huge_page_byte;
    const std::size_t alignment_byte = is_large ? huge_page_byte : buffer_alignment_byte;
    std::size_t given_byte = wanted_byte + alignment_byte;
    // Of all allocators only calloc gives zeros without touching fresh pages.
    // NOLINTNEXTLINE(cppcoreguidelines-no-malloc)
    Allocation allocation{.memory = std::unique_ptr<void, FreeMemory>{std::calloc(given_byte, 1)}};
    if (!allocation.memory) {
        throw std::bad_alloc{};
    }
    allocation.start = allocation.memory.get();
    static_cast<void>(std::align(alignment_byte, wanted_byte, allocation.start, given_byte));
    if (is_large) {
        // Advice alone: where the system has no huge pages, ordinary ones serve.
        static_cast<void>(::madvise(allocation.start, wanted_byte, MADV_HUGEPAGE));
    }
    return allocation;
}

}  // namespace tare::npb
