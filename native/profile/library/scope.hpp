// SPDX-License-Identifier: Apache-2.0
// One call of the program's, while it lasts.
#pragma once

#include "profile/library/caller.hpp"
#include "profile/library/profile.hpp"

namespace tare::profile {

class Scope {
  public:
    Scope()
        : thread_{&this_thread()},
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

    /// Calls `next`, and writes down how long it took, with what `effect` finds out before and after.
    template <typename Effect, typename Next>
    [[gnu::always_inline]] int measure(Call call, Share share, Caller caller, Effect&& effect, Next next) {
        if (!thread_->is_measured && thread_->number == 0) [[unlikely]] {
            profile_->meet_thread(*thread_);
        }
        entry_ = {.site = caller.site(),
                  .call = call,
                  .share = share,
                  .is_call = true,
                  .on_main = thread_->is_measured,
                  .thread = thread_->number};
        effect.prepare(*this);
        entry_.begin_ticks = profile_->clock().now();
        if (entry_.on_main) {
            profile_->enter(call, entry_.begin_ticks);
        }
        const int code = perform(effect, next);
        entry_.end_ticks = profile_->clock().now();
        const auto lock = profile_->lock();
        if (code == MPI_SUCCESS) {
            effect.complete(*this);
        }
        profile_->write_down(entry_);
        if (entry_.on_main) {
            profile_->leave();
        }
        return code;
    }

    [[nodiscard]] Profile& profile() const { return *profile_; }
    /// What will be written down of this call.
    [[nodiscard]] Entry& entry() { return entry_; }
    /// Of what it did beyond that, nothing but the times.
    [[nodiscard]] Entry further() const {
        return {.begin_ticks = entry_.begin_ticks,
                .end_ticks = entry_.end_ticks,
                .site = entry_.site,
                .call = entry_.call,
                .on_main = entry_.on_main};
    }

  private:
    template <typename Effect, typename Next>
    int perform(Effect& effect, Next next) {
        if constexpr (requires { effect.perform(*this, next); }) {
            return effect.perform(*this, next);
        } else {
            return next();
        }
    }

    ThreadState* thread_;
    Profile* profile_;
    Entry entry_;
};

}  // namespace tare::profile
