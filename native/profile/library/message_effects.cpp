// SPDX-License-Identifier: Apache-2.0
#include "profile/library/message_effects.hpp"

namespace tare::profile {

namespace {

Send send_to(Scope& scope, const Destination& where) {
    Profile& profile = scope.profile();
    const auto& communicator = profile.communicators().find(where.communicator);
    return {.call = scope.call(),
            .byte = data_byte(profile, where.count, where.type),
            .to_world_rank = communicator->world_ranks.at(static_cast<std::size_t>(where.peer)),
            .stream = communicator->stream(where.tag),
            .begin_ns = scope.begin_ns()};
}

void start(Scope& scope, Tracked& request) {
    Profile& profile = scope.profile();
    request.active = true;
    request.call = scope.call();
    if (request.kind == Tracked::Kind::send) {
        count_send(profile, {.call = scope.call(),
                             .byte = request.byte,
                             .to_world_rank = request.to_world_rank,
                             .stream = request.stream,
                             .begin_ns = scope.begin_ns()});
    } else {
        request.slot = profile.log().post();
    }
}

}  // namespace

void Sends::complete(Scope& scope) const {
    if (to_.peer != MPI_PROC_NULL) {
        count_send(scope.profile(), send_to(scope, to_));
    }
}

void Receives::complete(Scope& scope) const {
    Profile& profile = scope.profile();
    const auto& communicator = profile.communicators().find(communicator_);
    const Receipt receipt{
        .call = scope.call(), .communicator = communicator.get(), .status = &status_.seen()};
    if (receipt.is_message()) {
        count_receipt(profile, receipt);
        log_receipt(profile, receipt, profile.log().post(), scope.begin_ns(), scope.end_ns());
    }
}

void PostsReceive::complete(Scope& scope) const {
    Profile& profile = scope.profile();
    if (peer_ != MPI_PROC_NULL) {
        profile.requests().insert_or_assign(
            *request_, Tracked{.kind = Tracked::Kind::receive,
                               .call = scope.call(),
                               .slot = profile.log().post(),
                               .communicator = profile.communicators().find(communicator_)});
    }
}

void Matches::complete(Scope& scope) const {
    Profile& profile = scope.profile();
    if (flag_ != nullptr && *flag_ == 0) {
        return;
    }
    const auto& communicator = profile.communicators().find(communicator_);
    const Receipt receipt{
        .call = scope.call(), .communicator = communicator.get(), .status = &status_.seen()};
    if (receipt.is_message()) {
        log_receipt(profile, receipt, profile.log().post(), scope.begin_ns(), scope.end_ns());
        profile.matched().insert_or_assign(*message_, communicator);
    }
}

void ReceivesMatched::prepare(Scope& scope) {
    status_.ask();
    matched_ = scope.profile().matched().extract(message_);
}

void ReceivesMatched::complete(Scope& scope) const {
    if (matched_) {
        count_receipt(
            scope.profile(),
            {.call = scope.call(), .communicator = matched_.mapped().get(), .status = &status_.seen()});
    }
}

void PostsMatched::prepare(Scope& scope) { matched_ = scope.profile().matched().extract(message_); }

void PostsMatched::complete(Scope& scope) const {
    if (matched_) {
        scope.profile().requests().insert_or_assign(*request_, Tracked{.kind = Tracked::Kind::receive,
                                                                       .logged = true,
                                                                       .call = scope.call(),
                                                                       .communicator = matched_.mapped()});
    }
}

void PreparesSend::complete(Scope& scope) const {
    if (to_.peer != MPI_PROC_NULL) {
        const Send send = send_to(scope, to_);
        scope.profile().requests().insert_or_assign(*request_, Tracked{.kind = Tracked::Kind::send,
                                                                       .active = false,
                                                                       .persistent = true,
                                                                       .byte = send.byte,
                                                                       .to_world_rank = send.to_world_rank,
                                                                       .stream = send.stream});
    }
}

void PreparesReceive::complete(Scope& scope) const {
    Profile& profile = scope.profile();
    if (peer_ != MPI_PROC_NULL) {
        profile.requests().insert_or_assign(
            *request_, Tracked{.kind = Tracked::Kind::receive,
                               .active = false,
                               .persistent = true,
                               .communicator = profile.communicators().find(communicator_)});
    }
}

void Starts::complete(Scope& scope) const {
    Requests& known = scope.profile().requests();
    for (const auto& request : requests_) {
        if (const auto found = known.find(request); found != known.end()) {
            start(scope, found->second);
        }
    }
}

}  // namespace tare::profile
