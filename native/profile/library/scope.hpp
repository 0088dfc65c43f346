// SPDX-License-Identifier: Apache-2.0
// One call of the program's, while it lasts.
#pragma once

#include "profile/library/clock.hpp"
#include "profile/library/profile.hpp"

namespace tare::profile {

class Scope {
  public:
    Scope(Call call, Share share)
        : call_{call},
          share_{share},
          thread_{&this_thread()},
          profile_{thread_->depth == 0 ? active_profile().load(std::memory_order_acquire) : nullptr} {
        ++thread_->depth;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    Scope(Scope&&) = delete;
    Scope& operator=(Scope&&) = delete;
    ~Scope() { --thread_->depth; }

    /// False outside of MPI's life and within another call: such a call is passed on, no more.
    [[nodiscard]] bool measures() const { return profile_ != nullptr; }

    /// Calls `next`, and counts it with what `effect` finds out before and after.
    template <typename Effect, typename Next>
    int measure(Effect&& effect, Next next) {
        {
            const auto lock = profile_->lock();
            effect.prepare(*this);
        }
        begin();
        const int code = next();
        end_ns_ = now_ns();
        const auto lock = profile_->lock();
        count();
        if (code == MPI_SUCCESS) {
            effect.complete(*this);
        }
        return code;
    }

    [[nodiscard]] Profile& profile() const { return *profile_; }
    [[nodiscard]] Call call() const { return call_; }
    [[nodiscard]] CallRecord& row() const { return profile_->row(call_); }
    [[nodiscard]] std::int64_t begin_ns() const { return begin_ns_; }
    [[nodiscard]] std::int64_t end_ns() const { return end_ns_; }
    void counts_for(Share share) { share_ = share; }

  private:
    void begin() {
        begin_ns_ = now_ns();
        if (thread_->is_measured) {
            profile_->enter(call_, begin_ns_);
        }
    }
    void count() {
        row().add(end_ns_ - begin_ns_);
        if (thread_->is_measured) {
            profile_->leave(share_, begin_ns_, end_ns_);
        } else {
            profile_->log().note(Untold::threads);
        }
    }

    Call call_;
    Share share_;
    ThreadState* thread_;
    Profile* profile_;
    std::int64_t begin_ns_ = 0;
    std::int64_t end_ns_ = 0;
};

}  // namespace tare::profile
