// SPDX-License-Identifier: Apache-2.0
#include "profile/library/message_effects.hpp"

namespace tare::profile {

namespace {

/// Whether anything came: a receive from MPI_PROC_NULL brings nothing.
bool is_message(const MPI_Status& status) { return status.MPI_SOURCE >= 0; }

void describe_receipt(const Route& route, const MPI_Status& status, Entry& entry) {
    entry.peer = route.world_rank(status.MPI_SOURCE);
    entry.tag = status.MPI_TAG;
    entry.context = route.stream(status.MPI_TAG);
    entry.received_byte = data_byte(status);
}

/// A receive begins of which the journal does not tell.
void trace_post(Scope& scope) {
    if (scope.profile().trace() != nullptr) [[unlikely]] {
        Entry posted = scope.further();
        posted.did = Did::posted;
        scope.profile().trace(posted);
    }
}

void start(Scope& scope, Tracked& request) {
    Profile& profile = scope.profile();
    request.active = true;
    request.call = scope.entry().call;
    request.site = scope.entry().site;
    request.traced = profile.number_request();
    if (request.kind != Tracked::Kind::send) {
        request.slot = profile.log().post();
        trace_post(scope);
        return;
    }
    Entry sent = scope.further();
    sent.did = Did::sent;
    sent.send(request.byte);
    sent.peer = request.to_world_rank;
    sent.tag = request.tag;
    sent.context = request.stream;
    profile.count(sent);
}

}  // namespace

[[gnu::hot]] void Sends::describe(const Scope& scope, Entry& entry) const {
    if (to_.peer == MPI_PROC_NULL) {
        return;
    }
    const Route& route = scope.profile().communicators().route(to_.communicator);
    entry.did = Did::sent;
    entry.send(scope.profile().data_byte(to_.count, to_.type));
    entry.peer = route.world_rank(to_.peer);
    entry.tag = to_.tag;
    entry.context = route.stream(to_.tag);
}

[[gnu::hot]] void Receives::describe(const Scope& scope, Entry& entry) const {
    if (is_message(status_.seen())) {
        describe_receipt(scope.profile().communicators().route(communicator_), status_.seen(), entry);
        entry.did = Did::received;
        entry.has_received = true;
    }
}

[[gnu::hot, gnu::noinline]] void note_post(Scope& scope, int peer, MPI_Comm communicator,
                                           MPI_Request request) {
    if (peer == MPI_PROC_NULL) {
        return;
    }
    Entry& entry = scope.entry();
    entry.did = Did::posted;
    entry.request = key_of(request);
    scope.profile().expect(entry.request);
    entry.context = bits_of(communicator);
    const Route& route = scope.profile().communicators().route(communicator);
    const bool is_like_world = route.world_ranks == nullptr;
    entry.peer = peer >= 0 ? route.world_rank(peer) : is_like_world ? any_of_world : any_of_others;
}

[[gnu::hot]] void SendsAndReceives::complete(Scope& scope) const {
    sends_.complete(scope);
    Entry received = scope.further();
    receives_.describe(scope, received);
    scope.profile().write_down(received);
}

void Matches::complete(Scope& scope) const {
    Profile& profile = scope.profile();
    if ((flag_ != nullptr && *flag_ == 0) || !is_message(status_.seen())) {
        return;
    }
    describe_receipt(profile.communicators().route(communicator_), status_.seen(), scope.entry());
    scope.entry().did = Did::matched;
    profile.matched().insert_or_assign(*message_, profile.communicators().find(communicator_));
}

void ReceivesMatched::prepare(Scope& scope) {
    const auto lock = scope.profile().lock();
    matched_ = scope.profile().matched().extract(message_);
    scope.begin();
}

void ReceivesMatched::complete(Scope& scope) const {
    if (matched_ && is_message(status_.seen())) {
        describe_receipt(matched_.mapped()->route({}), status_.seen(), scope.entry());
        scope.entry().did = Did::taken;
        scope.entry().has_received = true;
    }
}

void PostsMatched::prepare(Scope& scope) {
    const auto lock = scope.profile().lock();
    matched_ = scope.profile().matched().extract(message_);
    scope.begin();
}

void PostsMatched::complete(Scope& scope) const {
    if (matched_) {
        scope.profile().settle();
        const std::uint32_t traced = scope.profile().number_request();
        trace_post(scope);
        scope.profile().track(*request_, {.kind = Tracked::Kind::receive,
                                          .logged = true,
                                          .call = scope.entry().call,
                                          .site = scope.entry().site,
                                          .traced = traced,
                                          .communicator = matched_.mapped()});
    }
}

void PreparesSend::complete(Scope& scope) const {
    Entry send{};
    send_.describe(scope, send);
    if (send.did == Did::sent) {
        scope.profile().track(*request_, {.kind = Tracked::Kind::send,
                                          .active = false,
                                          .persistent = true,
                                          .byte = send.sent_byte(),
                                          .to_world_rank = send.peer,
                                          .tag = send.tag,
                                          .stream = send.context});
    }
}

void PreparesReceive::complete(Scope& scope) const {
    if (peer_ != MPI_PROC_NULL) {
        scope.profile().track(*request_,
                              {.kind = Tracked::Kind::receive,
                               .active = false,
                               .persistent = true,
                               .communicator = scope.profile().communicators().find(communicator_)});
    }
}

void Starts::complete(Scope& scope) const {
    Requests& known = scope.profile().requests();
    for (const auto& request : requests_) {
        if (Tracked* const found = known.find(key_of(request))) {
            start(scope, *found);
        }
    }
}

}  // namespace tare::profile
