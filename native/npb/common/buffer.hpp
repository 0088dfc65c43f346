// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

namespace tare::npb {

/// The start of every buffer is a multiple of this: a cache line, and the widest vector.
constexpr std::size_t buffer_alignment_byte = 64;

struct FreeMemory {
    void operator()(void* memory) const noexcept;
};

/// Memory as the system gave it, and the aligned place in it.
struct Allocation {
    std::unique_ptr<void, FreeMemory> memory;
    void* start = nullptr;
};

/// `count` zeros of `size_byte` each. Large memory begins at a huge page, and the system is advised to use
/// such pages; it is zeroed page by page where it is first touched. Throws `std::bad_alloc`.
[[nodiscard]] Allocation allocate(std::size_t count, std::size_t size_byte);

/// An array of zeros whose length is fixed at the start, aligned for vectors. Unlike `std::vector` it leaves
/// large memory untouched, so that the thread that first writes a page decides where it lies.
template <typename Value>
class Buffer {
    static_assert(std::is_trivially_copyable_v<Value> && std::is_trivially_destructible_v<Value>,
                  "a buffer's values begin as zero bytes and end without a destructor");

  public:
    Buffer() = default;
    explicit Buffer(std::size_t count) : allocation_{allocate(count, sizeof(Value))}, count_{count} {}

    [[nodiscard]] Value* data() { return static_cast<Value*>(allocation_.start); }
    [[nodiscard]] const Value* data() const { return static_cast<const Value*>(allocation_.start); }
    [[nodiscard]] std::size_t size() const { return count_; }
    [[nodiscard]] std::span<Value> span() { return {data(), count_}; }
    [[nodiscard]] std::span<const Value> span() const { return {data(), count_}; }

  private:
    Allocation allocation_{};
    std::size_t count_ = 0;
};

}  // namespace tare::npb
