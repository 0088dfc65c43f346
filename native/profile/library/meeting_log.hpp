// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profile/collective_waits.hpp"
#include "profile/library/log_room.hpp"

namespace tare::profile {

/// When this rank came to collective calls and left them, as far as there is room.
class MeetingLog {
  public:
    MeetingLog() { meetings_.reserve(most_logged); }

    void met(const Meeting& meeting) {
        if (meeting.arrival.communicator == 0) {
            note(Untold::communicator);
        } else if (meetings_.size() == most_logged) {
            note(Untold::full);
        } else {
            make_room(meetings_);
            meetings_.push_back(meeting);
            return;
        }
        left_out_ += meeting.waits ? 1 : 0;
    }
    /// Not all can be told; the gravest reason stays.
    void note(Untold reason) { untold_ = std::max(untold_, reason); }

    [[nodiscard]] const std::vector<Meeting>& meetings() const { return meetings_; }
    /// Calls that waited for others and are not in the log.
    [[nodiscard]] std::uint64_t left_out() const { return left_out_; }
    [[nodiscard]] Untold untold() const { return untold_; }
    /// Whether the order of this rank's calls is known.
    [[nodiscard]] bool has_order() const { return untold_ < Untold::threads; }

  private:
    std::vector<Meeting> meetings_;
    std::uint64_t left_out_ = 0;
    Untold untold_ = Untold::none;
};

}  // namespace tare::profile
