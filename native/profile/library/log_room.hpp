// SPDX-License-Identifier: Apache-2.0
// Memory for what is logged of each message and collective call.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace tare::profile {

/// Of a kind: 24 to 40 MiB at most, of which only what is used takes memory.
inline constexpr std::size_t most_logged = std::size_t{1} << 20U;

/// Between two computations of the program's the kernel takes five times as long to find memory for one page
/// as for one of many.
inline constexpr std::size_t block_items = 8192;

/// Has the kernel find memory for all of this. Linux before 5.14 cannot: then it is found page by page.
void populate(void* memory, std::size_t byte);

/// Does so for the next block, if that begins here.
template <typename Item>
void make_room(std::vector<Item>& items) {
    if (items.size() % block_items == 0) {
        populate(std::to_address(items.end()), block_items * sizeof(Item));
    }
}

}  // namespace tare::profile
