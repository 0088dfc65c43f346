// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "channel/frame.hpp"
#include "channel/line.hpp"
#include "keeper/client.hpp"

namespace tare::keeper {

/// Everyone who has something run in the guest, each by the number of its stream. A stream's number is taken
/// until the guest has ended it, even where its client has gone before.
class Clients {
  public:
    /// The line must outlive this.
    explicit Clients(channel::Line& line) : line_{&line} {}

    /// Beyond `most_streams` some are let in to be told that there is no room; who comes then waits outside.
    [[nodiscard]] bool lets_in() const { return clients_.size() < channel::most_streams + told_at_once; }
    void add(FileDescriptor connection);
    [[nodiscard]] std::size_t count() const { return clients_.size(); }

    /// Appends what all of them poll. Between this and `serve`, clients may be added, but none removed.
    void fill(std::vector<pollfd>& polled) const;
    void serve(std::span<const pollfd> polled);

    /// A frame of the guest; throws ProtocolError for what the guest must not say.
    void take(const channel::Frame& frame);

    /// Removes those that are finished, and those that came and asked nothing.
    void remove_finished();

    [[nodiscard]] std::optional<Clock::time_point> next_deadline() const;

    /// Tells all that wait that there is no guest any more.
    void dismiss(const std::string& reason);

  private:
    static constexpr std::size_t told_at_once = 16;

    using Map = std::map<std::uint32_t, Client>;

    std::uint32_t free_stream();
    void serve_some(Map::iterator first, Map::iterator last, std::span<const pollfd> polled);

    channel::Line* line_;
    Map clients_;
    std::uint32_t last_stream_ = 0;
    std::uint32_t turn_ = 0;  // who is served first: the line's room must not go to the same ones
};

}  // namespace tare::keeper
