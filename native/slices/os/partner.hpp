// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "common/file_descriptor.hpp"

namespace tare::slices {

/// A process that takes part in a piece's work, and ends with this one, however this one ends.
class Partner {
  public:
    /// Does `work` in a new process, which then ends. Throws `std::system_error` where none can be started.
    explicit Partner(const std::function<void()>& work);
    Partner(Partner&& other) noexcept;
    Partner& operator=(Partner&& other) noexcept;
    Partner(const Partner&) = delete;
    Partner& operator=(const Partner&) = delete;
    ~Partner();

    /// Throws `std::runtime_error` when it has ended.
    void require_alive() const;

    /// So far (clock_getcpuclockid(3)).
    [[nodiscard]] std::int64_t cpu_ns() const;

  private:
    pid_t process_;
};

/// While it exists, the caller and what it starts run on a single processor, the last that it may use: a
/// hand-over is then a switch, and never a call to another processor.
class OnOneProcessor {
  public:
    OnOneProcessor();
    OnOneProcessor(const OnOneProcessor&) = delete;
    OnOneProcessor& operator=(const OnOneProcessor&) = delete;
    OnOneProcessor(OnOneProcessor&&) = delete;
    OnOneProcessor& operator=(OnOneProcessor&&) = delete;
    ~OnOneProcessor();

  private:
    std::vector<int> before_;
};

struct Pipe {
    FileDescriptor out;  ///< To read from.
    FileDescriptor in;   ///< To write to.
};

[[nodiscard]] Pipe make_pipe();

/// Reads until `bytes` is full; false at the end of the input. Throws `std::system_error`.
[[nodiscard]] bool receive(const FileDescriptor& from, std::span<std::byte> bytes);

/// Writes all of it; throws `std::system_error`.
void send(const FileDescriptor& into, std::span<const std::byte> bytes);

}  // namespace tare::slices
