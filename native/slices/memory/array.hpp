// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <span>

#include "common/system.hpp"

namespace tare::slices {

/// An array of its own pages, as the kernel gives them; whoever fills it touches it first.
template <typename Element>
class Array {
  public:
    /// Throws `std::system_error` where there is not so much memory.
    explicit Array(std::size_t size)
        : elements_{static_cast<Element*>(::mmap(nullptr, size * sizeof(Element), PROT_READ | PROT_WRITE,
                                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
                    size} {
        if (elements_.data() == MAP_FAILED) {
            throw_errno("cannot have " + std::to_string(elements_.size_bytes()) + " byte");
        }
    }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;
    Array(Array&&) = delete;
    Array& operator=(Array&&) = delete;
    ~Array() { ::munmap(elements_.data(), elements_.size_bytes()); }

    [[nodiscard]] std::span<Element> elements() const { return elements_; }

  private:
    std::span<Element> elements_;
};

}  // namespace tare::slices
