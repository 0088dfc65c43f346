// SPDX-License-Identifier: Apache-2.0
#include "profile/library/request_effects.hpp"

#include <utility>

namespace tare::profile {

namespace {

/// Nothing came of what was cancelled.
void describe_end(RequestKey key, const MPI_Status& status, Entry& entry) {
    entry.did = Did::ended;
    entry.request = key;
    entry.peer = is_cancelled(status) ? MPI_PROC_NULL : status.MPI_SOURCE;
    entry.tag = status.MPI_TAG;
    entry.received_byte = data_byte(status);
}

bool is_of_file(Requests& known, RequestKey key) {
    const Tracked* const found = known.find(key);
    return found != nullptr && found->active && found->of_file();
}

RequestKey claim(const Profile& profile, Requests& known, RequestKey key) {
    return profile.is_threaded() ? known.claim(key) : key;
}

}  // namespace

[[gnu::hot, gnu::noinline]] void note_end(Scope& scope, RequestKey key, const MPI_Status& status) {
    if (scope.profile().expects(key)) {
        describe_end(key, status, scope.entry());
    }
}

[[gnu::noinline]] void note_no_end(const Scope& scope, RequestKey key) {
    if (scope.profile().is_threaded()) {
        scope.profile().requests().release(key);
    }
}

[[gnu::noinline, gnu::cold]] RequestKey watch_end(Scope& scope, RequestKey key) {
    {
        Profile& profile = scope.profile();
        const auto lock = profile.lock();
        Requests& known = profile.requests();
        if (is_of_file(known, key)) {
            scope.entry().share = Share::io;
        }
        key = claim(profile, known, key);
    }
    scope.begin();
    return key;
}

[[gnu::hot]] void AwaitedRequests::look_at(Scope& scope) {
    keys_ = room_.take(handles_.size());
    std::transform(handles_.begin(), handles_.end(), keys_.begin(), key_of);
    if (scope.profile().watches_requests()) [[unlikely]] {
        watch(scope);
    }
}

[[gnu::hot]] void AwaitedRequests::end(Scope& scope, int index, const MPI_Status& status) {
    const RequestKey key = std::exchange(keys_[static_cast<std::size_t>(index)], 0);
    if (scope.profile().expects(key)) {
        Entry entry = scope.further();
        describe_end(key, status, entry);
        scope.profile().write_down(entry);
    }
}

void AwaitedRequests::watch(Scope& scope) {
    Profile& profile = scope.profile();
    const auto lock = profile.lock();
    Requests& known = profile.requests();
    const RequestKey no_request = key_of(profile.mpi().no_request);
    const auto of_file = [&](RequestKey key) { return is_of_file(known, key); };
    if (std::any_of(keys_.begin(), keys_.end(), of_file) &&
        std::all_of(keys_.begin(), keys_.end(),
                    [&](RequestKey key) { return key == no_request || of_file(key); })) {
        scope.entry().share = Share::io;
    }
    for (RequestKey& key : keys_) {
        key = claim(profile, known, key);
    }
    scope.begin();
}

void AwaitedRequests::release(Scope& scope) const {
    if (scope.profile().is_threaded()) {
        Requests& known = scope.profile().requests();
        for (const RequestKey key : keys_) {
            known.release(key);
        }
    }
}

[[gnu::hot]] void CompletesAll::prepare(Scope& scope) {
    requests_.look_at(scope);
    statuses_.ask(requests_.size());
}

[[gnu::hot]] void CompletesAll::complete(Scope& scope) {
    if (flag_ != nullptr && *flag_ == 0) {
        requests_.release(scope);
        return;
    }
    for (int index = 0; index < static_cast<int>(requests_.size()); ++index) {
        requests_.end(scope, index, statuses_.at(index));
    }
}

void CompletesAny::prepare(Scope& scope) { requests_.look_at(scope); }

void CompletesAny::complete(Scope& scope) {
    if (*index_ != MPI_UNDEFINED) {
        requests_.end(scope, *index_, status_.seen());
    }
    requests_.release(scope);
}

void CompletesSome::prepare(Scope& scope) {
    requests_.look_at(scope);
    statuses_.ask(requests_.size());
}

void CompletesSome::complete(Scope& scope) {
    const int completed = *completed_ != MPI_UNDEFINED ? *completed_ : 0;
    const std::span ended{indices_, static_cast<std::size_t>(completed)};
    for (int place = 0; place < completed; ++place) {
        requests_.end(scope, ended[static_cast<std::size_t>(place)], statuses_.at(place));
    }
    requests_.release(scope);
}

void FreesRequest::prepare(Scope& scope) const {
    const auto lock = scope.profile().lock();
    Requests& known = scope.profile().requests();
    const Tracked* const found = known.find(request_);
    if (found != nullptr && found->active && found->kind == Tracked::Kind::receive) {
        scope.profile().log().note(Untold::withdrawn);
    }
    known.remove(request_);
    if (Trace* const trace = scope.profile().trace()) [[unlikely]] {
        (void)trace->end(request_);  // its end is never told
    }
    scope.begin();
}

void Cancels::prepare(Scope& scope) const {
    // Whether a receive was cancelled its end will tell; a send's end is not looked at.
    const auto lock = scope.profile().lock();
    const Tracked* const found = scope.profile().requests().find(request_);
    if (found == nullptr || found->kind == Tracked::Kind::send) {
        scope.profile().log().note(Untold::withdrawn);
    }
    scope.begin();
}

}  // namespace tare::profile
