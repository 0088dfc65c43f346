// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace tare::collective {

/// Gives memory from the beginning of a page on. Where malloc would begin depends on what an environment's
/// libraries allocated before, and two buffers 16 byte apart, modulo a page, sum a quarter slower.
template <typename Element>
struct FromPage {
    using value_type = Element;

    static constexpr std::align_val_t page{4096};

    [[nodiscard]] static Element* allocate(std::size_t count) {
        return static_cast<Element*>(::operator new(count * sizeof(Element), page));
    }
    static void deallocate(Element* begin, std::size_t /*count*/) noexcept { ::operator delete(begin, page); }
    [[nodiscard]] bool operator==(const FromPage& /*other*/) const { return true; }
};

template <typename Element>
using Buffer = std::vector<Element, FromPage<Element>>;

}  // namespace tare::collective
