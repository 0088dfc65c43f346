// SPDX-License-Identifier: Apache-2.0
// The host's end of a guest's channel: passes on what clients ask, until the guest or this program is to end.
#pragma once

#include <poll.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "channel/line.hpp"
#include "common/file_descriptor.hpp"
#include "keeper/clients.hpp"
#include "keeper/vmm.hpp"

namespace tare::keeper {

/// What a keeper works with.
struct Parts {
    FileDescriptor signals;    ///< signalfd(2): readable when this program is told to end.
    FileDescriptor listening;  ///< Where clients come; nonblocking.
    channel::Line line;        ///< To the guest.
    std::unique_ptr<Vmm> vmm;  ///< Empty where somebody else runs it.
};

class Keeper {
  public:
    /// The guest must say hello within the limit.
    Keeper(Parts parts, std::chrono::milliseconds ready_limit);

    /// Serves until told to end (returns 0) or until the guest ends (says why on standard error, returns 1).
    int run();

  private:
    using Polled = std::vector<pollfd>;

    void work_once();
    [[nodiscard]] Polled asked() const;
    [[nodiscard]] int timeout_ms() const;
    void read_line();
    void take(const channel::Frame& frame);
    void greet();
    void accept_client();
    void check_hello_in_time() const;
    [[noreturn]] void end_with_vmm();
    int power_off();
    int give_up(const std::string& what, std::chrono::milliseconds patience);

    Parts parts_;
    Clients clients_;
    std::chrono::milliseconds ready_limit_;
    Clock::time_point begun_ = Clock::now();
    Clock::time_point accepts_from_ = begun_;  // later while no descriptor is free
    bool ready_ = false;
    bool may_repeat_hello_ = true;  // the guest does so until it hears of us
    bool told_to_end_ = false;
};

}  // namespace tare::keeper
