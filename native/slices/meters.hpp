// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/file_descriptor.hpp"

namespace tare::slices {

/// What one slice took.
struct Taken {
    std::int64_t wall_ns = 0;
    std::int64_t cpu_ns = 0;
    std::optional<std::int64_t>
        waited_ns;  ///< Ready to run, without a processor; nothing where that is not counted.
    std::uint64_t checksum = 0;

    /// The line that answers a turn: `slice WALL_NS CPU_NS WAITED_NS CHECK`.
    [[nodiscard]] std::string line() const;
};

/// Time that this process was ready to run and waited for a processor: the second figure of
/// /proc/self/schedstat (Documentation/scheduler/sched-stats.rst), opened once and read again each time.
class WaitedTime {
  public:
    explicit WaitedTime(const char* path = "/proc/self/schedstat");

    /// Since the process started; nothing where it is not counted.
    [[nodiscard]] std::optional<std::int64_t> read_ns() const;

  private:
    FileDescriptor file_;
};

/// The second of three numbers; nothing where there are not three.
[[nodiscard]] std::optional<std::int64_t> second_figure(std::string_view text);

/// CPU time of this process (CLOCK_PROCESS_CPUTIME_ID) and of the children that it waited for (getrusage(2)).
[[nodiscard]] std::int64_t cpu_ns();

/// Times what runs between its making and `taken`.
class Meters {
  public:
    explicit Meters(const WaitedTime& waited);

    [[nodiscard]] Taken taken() const;

  private:
    const WaitedTime* waited_;
    std::optional<std::int64_t> waited_ns_;
    std::int64_t cpu_ns_;
    std::int64_t begin_ns_;  ///< Read last here, and first at the end.
};

}  // namespace tare::slices
