// SPDX-License-Identifier: Apache-2.0
#include "profile/library/request_effects.hpp"

namespace tare::profile {

namespace {

Taken take(Scope& scope, MPI_Request request) {
    Requests& known = scope.profile().requests();
    const auto found = known.find(request);
    return found != known.end() && found->second.active ? known.extract(found) : Taken{};
}

void put_back(Scope& scope, Taken& taken) {
    if (taken) {
        scope.profile().requests().insert(std::move(taken));
    }
}

/// As MPI_Test_cancelled tells, without its way through libraries that the program's own data have displaced.
bool is_cancelled(const MPI_Status& status) { return status._cancelled != 0; }

void finish_receive(Scope& scope, const Tracked& tracked, const MPI_Status& status) {
    Profile& profile = scope.profile();
    const Receipt receipt{
        .call = tracked.call, .communicator = tracked.communicator.get(), .status = &status};
    if (!receipt.is_message() || is_cancelled(status)) {
        return;
    }
    count_receipt(profile, receipt);
    if (!tracked.logged) {
        log_receipt(profile, receipt, tracked.slot, scope.begin_ns(), scope.end_ns());
    }
}

void finish(Scope& scope, Taken& taken, const MPI_Status& status) {
    if (!taken) {
        return;
    }
    Tracked& tracked = taken.mapped();
    if (tracked.kind == Tracked::Kind::receive) {
        finish_receive(scope, tracked, status);
    } else if (tracked.kind == Tracked::Kind::read) {
        scope.profile().row(tracked.call).received.add(data_byte(status));
    }
    if (tracked.persistent) {
        tracked.active = false;
        put_back(scope, taken);
    }
    taken = {};
}

}  // namespace

void CompletesOne::prepare(Scope& scope) {
    taken_ = take(scope, request_);
    if (taken_) {
        status_.ask();
        if (taken_.mapped().of_file()) {
            scope.counts_for(Share::io);
        }
    }
}

void CompletesOne::complete(Scope& scope) {
    if (!taken_) {
        return;
    }
    if (flag_ == nullptr || *flag_ != 0) {
        finish(scope, taken_, status_.seen());
    } else {
        put_back(scope, taken_);
    }
}

bool TakenRequests::take(Scope& scope) {
    if (scope.profile().requests().empty()) {
        return false;
    }
    bool tracked = false;
    bool files = true;
    taken_.reserve(requests_.size());
    for (const auto& request : requests_) {
        taken_.push_back(profile::take(scope, request));
        const Taken& last = taken_.back();
        tracked = tracked || last;
        files = files && (last ? last.mapped().of_file() : request == scope.profile().mpi().no_request);
    }
    if (!tracked) {
        taken_.clear();
    } else if (files) {
        scope.counts_for(Share::io);
    }
    return tracked;
}

void TakenRequests::put_back(Scope& scope) {
    for (Taken& taken : taken_) {
        profile::put_back(scope, taken);
    }
}

void SeenStatuses::ask(std::size_t count) {
    count_ = count;
    if (*statuses_ == MPI_STATUSES_IGNORE) {
        own_.resize(count);
        *statuses_ = own_.data();
    }
}

const MPI_Status& SeenStatuses::at(int index) const {
    return std::span{*statuses_, count_}[static_cast<std::size_t>(index)];
}

void CompletesAll::prepare(Scope& scope) {
    if (requests_.take(scope)) {
        statuses_.ask(requests_.size());
    }
}

void CompletesAll::complete(Scope& scope) {
    if (!requests_.any()) {
        return;
    }
    if (flag_ != nullptr && *flag_ == 0) {
        requests_.put_back(scope);
        return;
    }
    for (int index = 0; index < static_cast<int>(requests_.size()); ++index) {
        finish(scope, requests_.at(index), statuses_.at(index));
    }
}

void CompletesAny::prepare(Scope& scope) {
    if (requests_.take(scope)) {
        status_.ask();
    }
}

void CompletesAny::complete(Scope& scope) {
    if (requests_.any() && *index_ != MPI_UNDEFINED) {
        finish(scope, requests_.at(*index_), status_.seen());
    }
    requests_.put_back(scope);
}

void CompletesSome::prepare(Scope& scope) {
    if (requests_.take(scope)) {
        statuses_.ask(requests_.size());
    }
}

void CompletesSome::complete(Scope& scope) {
    const int completed = requests_.any() && *completed_ != MPI_UNDEFINED ? *completed_ : 0;
    const std::span ended{indices_, static_cast<std::size_t>(completed)};
    for (int place = 0; place < completed; ++place) {
        finish(scope, requests_.at(ended[static_cast<std::size_t>(place)]), statuses_.at(place));
    }
    requests_.put_back(scope);
}

void FreesRequest::prepare(Scope& scope) const {
    if (const auto found = scope.profile().requests().extract(request_)) {
        const Tracked& tracked = found.mapped();
        if (tracked.active && tracked.kind == Tracked::Kind::receive) {
            scope.profile().log().note(Untold::withdrawn);
        }
    }
}

void Cancels::prepare(Scope& scope) const {
    // Whether a receive was cancelled its end will tell; a send's end is not looked at.
    const Requests& known = scope.profile().requests();
    const auto found = known.find(request_);
    if (found == known.end() || found->second.kind == Tracked::Kind::send) {
        scope.profile().log().note(Untold::withdrawn);
    }
}

}  // namespace tare::profile
