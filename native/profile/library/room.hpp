// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace tare::profile {

/// Room for an item of each request of a call, on the stack unless they are very many. That is done by hand:
/// an allocator that does it lies in as many lines of the cache, which the program has displaced, as the rest
/// of a call together.
template <typename Item>
class Room {
  public:
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): filled before it is read
    Room() {}  // NOLINT(modernize-use-equals-default): that would fill it with zeros first

    /// What was taken before is gone.
    [[nodiscard]] std::span<Item> take(std::size_t count) {
        return count <= few_.size() ? std::span{few_}.first(count) : take_many(count);
    }

  private:
    static constexpr std::size_t few = 32;

    [[gnu::noinline, gnu::cold]] std::span<Item> take_many(std::size_t count) {
        many_.resize(count);
        return many_;
    }

    std::array<Item, few> few_;
    std::vector<Item> many_;
};

}  // namespace tare::profile
