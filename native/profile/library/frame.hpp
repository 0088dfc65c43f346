// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tare::profile {

/// A place to which calls return: whether that is in an interface for Fortran, and then its frame's size.
class Frame {
  public:
    constexpr Frame() = default;
    constexpr Frame(std::uint64_t site, std::uint64_t byte) : word_{site << size_bits | byte / word_byte} {}

    /// Addresses have 47 bits on x86-64.
    static constexpr unsigned size_bits = 16;
    static constexpr std::uint64_t word_byte = 8;
    static constexpr std::uint64_t most_byte = ((std::uint64_t{1} << size_bits) - 1) * word_byte;

    [[nodiscard]] bool is_free() const { return word_ == 0; }
    [[nodiscard]] bool is_of(std::uint64_t site) const { return word_ >> size_bits == site; }
    /// 0: it is the program's.
    [[nodiscard]] std::uint64_t byte() const { return word_ % (std::uint64_t{1} << size_bits) * word_byte; }

  private:
    std::uint64_t word_ = 0;
};

}  // namespace tare::profile
