// SPDX-License-Identifier: Apache-2.0
// Counting what the journal holds, with what only the living process knows: its requests and messages.
#include <algorithm>
#include <atomic>

#include "profile/counting.hpp"
#include "profile/library/profile.hpp"

namespace tare::profile {

void Profile::settle_full() {
    is_long_ = true;
    settle();
}

void Profile::settle() { settle_until(record().journal.end); }

bool Profile::settle_some() {
    const Journal& journal = record().journal;
    settle_until(std::min(journal.end, journal.first + some));
    return journal.end != 0;
}

void Profile::settle_until(std::uint32_t end) {
    Journal& journal = counters_.record->journal;
    for (; journal.first < end; ++journal.first) {
        count(std::span{journal.entries}[journal.first]);
    }
    if (journal.first == journal.end) {
        journal.end = 0;
        // Before the next: killed in between, nothing counts twice.
        std::atomic_signal_fence(std::memory_order_release);
        journal.first = 0;
    }
}

void Profile::count(const Entry& entry) {
    if (is_traced_) [[unlikely]] {
        trace(entry);
    }
    if (entry.did == Did::begun) {
        return;
    }
    profile::count(counters_, entry);
    if (entry.is_call && !entry.on_main) {
        log_.note(Untold::threads);
        meetings_.note(Untold::threads);
    }
    switch (entry.did) {
        case Did::sent:
        case Did::received:
        case Did::matched:
            log(entry);
            break;
        case Did::posted:
            post(entry);
            break;
        case Did::ended:
            end(entry);
            break;
        case Did::met:
            meet(entry);
            break;
        case Did::nothing:
        case Did::moved:
        case Did::taken:
        case Did::begun:
            break;
    }
}

/// Late senders are told of within MPI_COMM_WORLD.
void Profile::log(const Entry& entry) {
    const bool in_world = entry.peer < record().ranks;
    if (entry.did != Did::sent) {
        log_.received(log_.post(), entry.peer, in_world ? entry.context : 0, entry.begin_ticks,
                      entry.end_ticks);
    } else if (in_world) {
        log_.sent(entry.peer, entry.context, entry.begin_ticks);
    }
}

/// Nobody waits alone.
void Profile::meet(const Entry& entry) {
    if (entry.peer > 1) {
        const bool is_begun = call_table.at(index_of(entry.call)).is_begun;
        meetings_.met({.arrival = {.communicator = entry.context,
                                   .begin_ticks = entry.begin_ticks,
                                   .members = entry.peer,
                                   .is_awaited = entry.tag & part_is_awaited},
                       .end_ticks = entry.end_ticks,
                       .waits = !is_begun && (entry.tag & part_waits) != 0});
    }
}

void Profile::post(const Entry& entry) {
    requests_.put(entry.request, {.kind = Tracked::Kind::receive,
                                  .call = entry.call,
                                  .site = entry.site,
                                  .slot = log_.post(),
                                  .traced = is_traced_ ? trace_->last_request() : 0,
                                  .communicator = communicators_.find(handle_of<MPI_Comm>(entry.context))});
}

void Profile::end(const Entry& entry) {
    Tracked* const tracked = requests_.find(entry.request);
    if (tracked == nullptr || !tracked->active) {
        return;
    }
    if (tracked->kind == Tracked::Kind::receive && entry.peer >= 0) {
        end_receive(entry, *tracked);
    } else if (tracked->kind == Tracked::Kind::read) {
        profile::count(counters_, {.received_byte = entry.received_byte,
                                   .site = tracked->site,
                                   .call = tracked->call,
                                   .did = Did::moved,
                                   .has_received = true});
    }
    if (tracked->persistent) {
        tracked->active = false;
        requests_.release(entry.request);
    } else {
        requests_.remove(entry.request);
    }
}

/// The data count for the call that posted the receive, the time for the one that waited.
void Profile::end_receive(const Entry& entry, const Tracked& tracked) {
    const Route route = tracked.communicator->route({});
    const int from = route.world_rank(entry.peer);
    profile::count(counters_, {.received_byte = entry.received_byte,
                               .site = tracked.site,
                               .peer = from,
                               .call = tracked.call,
                               .did = Did::received,
                               .has_received = true});
    if (!tracked.logged) {
        log_.received(tracked.slot, from, from < record().ranks ? route.stream(entry.tag) : 0,
                      entry.begin_ticks, entry.end_ticks);
    }
}

}  // namespace tare::profile
