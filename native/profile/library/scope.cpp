// SPDX-License-Identifier: Apache-2.0
#include "profile/library/effects.hpp"

namespace tare::profile {

namespace {

/// Null within another call.
Profile* profile_of(const ThreadState& thread) {
    if (thread.depth == 0) [[likely]] {
        return active_profile().load(std::memory_order_acquire);
    }
    return nullptr;
}

}  // namespace

inline void Scope::start() {
    entry_.begin_ticks = profile_->clock().now();
    if (entry_.on_main) {
        profile_->enter(entry_.call, entry_.begin_ticks);
    }
}

[[gnu::hot, gnu::noinline]] Scope::Scope(Way& way, Call call, Share share, std::uint64_t site,
                                         std::uint64_t stack)
    : thread_{&this_thread()},
      profile_{profile_of(*thread_)},
      next_{way.next.load(std::memory_order_relaxed)},
      entry_{.site = site,
             .call = call,
             .share = share,
             .is_call = true,
             .on_main = thread_->is_measured,
             .thread = thread_->number} {
    ++thread_->depth;
    if (next_ == nullptr) [[unlikely]] {
        next_ = look_up_next(call, stack == 0 ? Layer::mpi : Layer::pmpi);
    }
    if (profile_ == nullptr) [[unlikely]] {
        return;
    }
    if (stack != 0) {
        entry_.site = site_in_program(site, stack, profile_->program(), way.frame);
    }
    if (!entry_.on_main && entry_.thread == 0) [[unlikely]] {
        profile_->meet_thread(*thread_);
        entry_.thread = thread_->number;
    }
    start();
}

void Scope::begin() { start(); }

[[gnu::hot, gnu::noinline]] void Scope::end() {
    entry_.end_ticks = profile_->clock().now();
    if (profile_->is_threaded()) [[unlikely]] {
        profile_->mutex().lock();
    }
}

[[gnu::hot, gnu::noinline]] void Scope::write_down() {
    profile_->write_down(entry_);
    if (entry_.on_main) {
        profile_->leave();
    }
    if (profile_->is_threaded()) [[unlikely]] {
        profile_->mutex().unlock();
    }
}

void note_begun(Scope& scope, RequestKey request) {
    Entry begun = scope.further();
    begun.site = 0;
    begun.did = Did::begun;
    begun.request = request;
    scope.profile().expect(request);
    scope.profile().write_down(begun);
}

}  // namespace tare::profile
