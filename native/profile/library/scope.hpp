// SPDX-License-Identifier: Apache-2.0
// One call of the program's, while it lasts. What all calls have in common is in functions of their own and
// in no call's: the calls of one burst then find it in the caches.
#pragma once

#include "profile/library/caller.hpp"
#include "profile/library/profile.hpp"

namespace tare::profile {

class Scope {
  public:
    Scope(Call call, Share share, const Caller& caller)
        : Scope{way_of(call, caller.layer), call, share, caller.site, caller.stack} {}
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    Scope(Scope&&) = delete;
    Scope& operator=(Scope&&) = delete;
    ~Scope() { --thread_->depth; }

    /// False outside of MPI's life and within another call: such a call is passed on, no more.
    [[nodiscard]] bool measures() const { return profile_ != nullptr; }
    /// What the call is passed on to.
    template <typename Function>
    [[nodiscard]] Function* next() const {
        // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): what dlsym(3) finds is a function
        return reinterpret_cast<Function*>(next_);
    }

    /// Calls `next`, and writes down how long it took, with what `effect` finds out before and after.
    template <typename Effect, typename Next>
    [[gnu::always_inline]] int measure(Effect&& effect, Next next) {
        if constexpr (requires { effect.prepare(*this); }) {
            effect.prepare(*this);
        }
        const int code = perform(effect, next);
        end();
        if (code == MPI_SUCCESS) [[likely]] {
            effect.complete(*this);
        }
        write_down();
        return code;
    }

    /// The call begins now. It has begun already, before what an effect did.
    void begin();

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
    Scope(Way& way, Call call, Share share, std::uint64_t site, std::uint64_t stack);

    void start();
    /// Takes the profile's lock, which `write_down` releases.
    void end();
    void write_down();

    template <typename Effect, typename Next>
    [[gnu::always_inline]] int perform(Effect& effect, Next next) {
        if constexpr (requires { effect.perform(*this, next); }) {
            return effect.perform(*this, next);
        } else {
            return next();
        }
    }

    ThreadState* thread_;
    Profile* profile_;
    void* next_;
    Entry entry_;
};

}  // namespace tare::profile
