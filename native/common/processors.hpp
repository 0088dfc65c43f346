// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

#include <array>
#include <string_view>
#include <vector>

namespace tare {

/// A set of processors, large enough for the 8192 that Linux supports at most.
class ProcessorSet {
  public:
    static constexpr int capacity = 8192;

    ProcessorSet() = default;
    explicit ProcessorSet(const std::vector<int>& processors);

    /// sched_setaffinity(2) of the calling thread: 0, or -1 with errno. Safe after vfork.
    [[nodiscard]] int bind_caller() const;

    /// The processors that the calling thread may use, in ascending order; throws `std::system_error`.
    [[nodiscard]] static std::vector<int> of_caller();

  private:
    std::array<cpu_set_t, capacity / CPU_SETSIZE> bits_{};
};

/// Reads a list such as `0-1,3` (cpuset(7), "List format"); throws `std::invalid_argument` that says what is
/// wrong.
[[nodiscard]] std::vector<int> parse_processor_list(std::string_view text);

}  // namespace tare
