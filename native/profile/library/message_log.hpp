// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "profile/late_senders.hpp"
#include "profile/library/log_room.hpp"

namespace tare::profile {

/// A receive's place in the log; `no_slot` when it has none.
using Slot = std::uint32_t;
inline constexpr Slot no_slot = UINT32_MAX;

/// A send's receiver and itself.
struct LoggedSending {
    std::int32_t to;
    Sending sending;
};

/// When messages began to be sent and to be waited for, as far as there is room: enough to say at the end of
/// the run how long late senders were waited for.
class MessageLog {
  public:
    MessageLog();

    void sent(int to_world_rank, Stream stream, std::int64_t begin_ticks);
    /// To be called in the order in which receives are posted.
    [[nodiscard]] Slot post();
    void received(Slot slot, int from_world_rank, Stream stream, std::int64_t begin_ticks,
                  std::int64_t end_ticks);
    /// Not all can be told; the gravest reason stays.
    void note(Untold reason);

    [[nodiscard]] const std::vector<LoggedSending>& sendings() const { return sendings_; }
    [[nodiscard]] const std::vector<Receiving>& receivings() const { return receivings_; }
    [[nodiscard]] std::uint64_t ended() const { return ended_; }
    [[nodiscard]] Untold untold() const { return untold_; }
    /// Whether the order of this rank's messages is known.
    [[nodiscard]] bool has_order() const { return untold_ < Untold::threads; }

  private:
    std::vector<LoggedSending> sendings_;
    std::vector<Receiving> receivings_;
    std::uint64_t ended_ = 0;
    Untold untold_ = Untold::none;
};

}  // namespace tare::profile
