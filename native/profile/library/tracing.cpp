// SPDX-License-Identifier: Apache-2.0
// From the journal to the trace.
#include <bit>

#include "profile/library/profile.hpp"

namespace tare::profile {

namespace {

TraceKind kind_of(Did did) {
    switch (did) {
        case Did::moved:
            return TraceKind::moved;
        case Did::sent:
            return TraceKind::sent;
        case Did::received:
        case Did::taken:
            return TraceKind::received;
        case Did::posted:
            return TraceKind::posted;
        case Did::ended:
            return TraceKind::ended;
        case Did::met:
            return TraceKind::met;
        case Did::nothing:
        case Did::matched:
        case Did::begun:
            break;
    }
    return TraceKind::call;
}

std::uint8_t flags_of(const Entry& entry) {
    return static_cast<std::uint8_t>((entry.is_call ? TraceRecord::is_call : 0U) |
                                     (entry.on_main ? TraceRecord::on_main : 0U) |
                                     (entry.has_sent ? TraceRecord::has_sent : 0U) |
                                     (entry.has_received ? TraceRecord::has_received : 0U));
}

/// What of an entry means the same in a trace.
TraceRecord record_of(const Entry& entry) {
    TraceRecord record{.begin_ticks = entry.begin_ticks,
                       .end_ticks = entry.end_ticks,
                       .call = entry.call,
                       .kind = kind_of(entry.did),
                       .flags = flags_of(entry)};
    if (record.kind == TraceKind::sent || record.kind == TraceKind::received ||
        record.kind == TraceKind::met || record.kind == TraceKind::moved) {
        record.sent_byte = entry.sent_byte();
        record.received_byte = entry.received_byte;
        record.context = entry.context;
        record.peer = entry.peer;
        record.tag = record.kind == TraceKind::met ? (entry.tag >> part_bits) - 1 : entry.tag;
    }
    return record;
}

/// What a receive brought; nothing if it was cancelled.
void describe_receipt(const Entry& entry, const Communicator& communicator, TraceRecord& record) {
    if (entry.peer < 0) {
        record.peer = entry.peer;
        return;
    }
    const Route route = communicator.route({});
    record.peer = route.world_rank(entry.peer);
    record.tag = entry.tag;
    record.context = route.stream(entry.tag);
    record.received_byte = entry.received_byte;
    record.flags |= TraceRecord::has_received;
}

}  // namespace

void Profile::begin_trace(std::unique_ptr<Trace> trace, const Initialization& initialization) {
    trace_ = std::move(trace);
    is_traced_ = trace_ != nullptr;
    if (is_traced_) {
        trace_->add({.begin_ticks = clock_.ticks(initialization.begin),
                     .end_ticks = clock_.ticks(initialization.end),
                     .call = initialization.call,
                     .flags = TraceRecord::is_call | TraceRecord::on_main});
        trace_->describe(*communicators_.find(mpi_->world));
        trace_->add({.begin_ticks = clock_.ticks(initialization.end),
                     .end_ticks = clock_.now(),
                     .kind = TraceKind::own});
    }
}

void Profile::end_trace(const RankClock& clock) {
    if (trace_) {
        trace_->close({.begin_ticks = clock.line.own_ticks,
                       .end_ticks = clock.line.reference_ticks,
                       .sent_byte = std::bit_cast<std::uint64_t>(clock.ns_per_tick),
                       .received_byte = std::bit_cast<std::uint64_t>(clock.line.rate_less_1),
                       .context = clock.realm,
                       .kind = TraceKind::closed});
        is_traced_ = false;
        trace_.reset();
    }
}

void Profile::trace(const Entry& entry) {
    if (entry.did == Did::begun) {
        trace_->begin(entry.request, number_request());
        return;
    }
    TraceRecord record = record_of(entry);
    if (record.kind == TraceKind::posted) {
        record.request = number_ != 0 ? number_ : number_request();
    } else if (record.kind == TraceKind::ended) {
        describe_traced_end(entry, record);
    } else {
        record.request = number_;
    }
    number_ = 0;
    if (entry.is_call || record.kind != TraceKind::call) {
        trace_->add(record);
    }
}

/// A request of which nothing is known ends untold.
void Profile::describe_traced_end(const Entry& entry, TraceRecord& record) {
    const Tracked* const tracked = requests_.find(entry.request);
    const bool is_known = tracked != nullptr && tracked->active;
    record.request = is_known ? tracked->traced : trace_->end(entry.request);
    if (record.request == 0) {
        record.kind = TraceKind::call;
    } else if (is_known && tracked->kind == Tracked::Kind::receive) {
        describe_receipt(entry, *tracked->communicator, record);
    }
}

}  // namespace tare::profile
