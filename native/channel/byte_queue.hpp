// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tare::channel {

/// Bytes that wait, first in, first out. Taking some away costs no copy of the rest each time.
class ByteQueue {
  public:
    void push(std::string_view bytes) { bytes_ += bytes; }

    [[nodiscard]] std::string_view view() const { return std::string_view{bytes_}.substr(taken_); }
    [[nodiscard]] std::size_t size() const { return bytes_.size() - taken_; }
    [[nodiscard]] bool empty() const { return size() == 0; }

    void pop(std::size_t count) {
        taken_ += count;
        if (empty() || taken_ >= most_taken) {
            bytes_.erase(0, taken_);
            taken_ = 0;
        }
    }

    /// Forgets everything, and gives the memory back.
    void clear() {
        bytes_ = {};
        taken_ = 0;
    }

  private:
    static constexpr std::size_t most_taken = std::size_t{64} << 10U;

    std::string bytes_;
    std::size_t taken_ = 0;
};

}  // namespace tare::channel
