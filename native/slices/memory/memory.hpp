// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "slices/memory/evidence.hpp"

namespace tare::slices {

/// What was asked of the memory that pieces work on; nothing: as the kernel does it by itself.
struct Placement {
    std::optional<bool> huge_pages;     ///< Ask for transparent huge pages, or for none (madvise(2)).
    std::optional<int> numa_node;       ///< Where it must lie (mbind(2)).
    std::optional<int> processor_node;  ///< On whose processors the program runs.
};

/// The memory of all pieces of a program, mapped for them page by page and never given back.
class Memory {
  public:
    /// Moves the calling thread to the processors of `processor_node`. Throws `std::invalid_argument` for a
    /// NUMA node that is not here.
    explicit Memory(const Placement& placement);

    /// New elements in pages of their own, all 0 and untouched: whoever writes first has the page. From 2 MiB
    /// on they begin with a huge page. Throws `std::system_error` where there is not so much memory, or it
    /// cannot be had as asked.
    template <typename Element>
    [[nodiscard]] std::span<Element> elements(std::size_t count) {
        return {static_cast<Element*>(map(count * sizeof(Element))), count};
    }

    [[nodiscard]] std::span<const Region> regions() const { return regions_; }

    /// A line about all of it, after it was used; empty where there is none:
    /// `memory BYTES huge BYTES nodes NODE:BYTES,...`, with a dash for what the kernel does not say.
    [[nodiscard]] std::string evidence() const;

  private:
    [[nodiscard]] void* map(std::size_t size_byte);
    void place(void* begin, std::size_t size_byte) const;

    Placement placement_;
    std::vector<Region> regions_;
};

}  // namespace tare::slices
