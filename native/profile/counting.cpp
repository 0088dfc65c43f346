// SPDX-License-Identifier: Apache-2.0
#include "profile/counting.hpp"

#include <algorithm>
#include <unordered_map>

namespace tare::profile {

namespace {

inline void count_data(CallRecord& row, const Entry& entry) {
    if (entry.is_call) {
        row.add(entry.end_ticks - entry.begin_ticks);
    }
    if (entry.has_sent) {
        row.sent.add(entry.sent_byte());
    }
    if (entry.has_received) {
        row.received.add(entry.received_byte);
    }
}

void count_time(ShareTicks& share_ticks, const Entry& entry) {
    if (entry.is_call && entry.on_main) {
        share_ticks.at(static_cast<std::size_t>(entry.share)) += entry.end_ticks - entry.begin_ticks;
    }
}

[[gnu::noinline, gnu::cold]] void count_thread(RankRecord& record, const Entry& entry) {
    const std::size_t place = std::clamp<std::size_t>(entry.thread, 1, ThreadRecord::most) - 1;
    ThreadRecord& thread = record.threads.at(place);
    ++thread.count;
    thread.share_ticks.at(static_cast<std::size_t>(entry.share)) += entry.end_ticks - entry.begin_ticks;
}

[[gnu::noinline, gnu::cold]] void count_inside(RegionTable& table, const Entry& entry) {
    for (RegionRecord& region : table.regions) {
        if (!region.is_inside()) {
            continue;
        }
        count_time(region.share_ticks, entry);
        if (CallRecord* const row = table.row_of(region, entry.call)) {
            count_data(*row, entry);
        } else {
            region.left_out += entry.is_call ? 1 : 0;
        }
    }
}

void count_peer(PeerRecord& peer, const Entry& entry) {
    if (entry.did == Did::sent) {
        ++peer.sent;
        peer.sent_byte += entry.sent_byte();
    } else {
        ++peer.received;
        peer.received_byte += entry.received_byte;
    }
}

bool is_message(const Entry& entry) {
    return entry.did == Did::sent || entry.did == Did::received || entry.did == Did::taken;
}

/// A receive of which the journal tells the beginning and the end.
Entry received(const Entry& posted, const Entry& ended) {
    return {.received_byte = ended.received_byte,
            .site = posted.site,
            .peer = posted.peer >= 0 ? posted.peer : ended.peer,
            .call = posted.call,
            .did = posted.peer == any_of_others ? Did::moved : Did::received,
            .has_received = true};
}

bool can_be(const RankCounters& counters, const Entry& entry) {
    return index_of(entry.call) < call_count &&
           static_cast<std::size_t>(entry.share) < counters.record->share_ticks.size() &&
           (!is_message(entry) ||
            (entry.peer >= 0 && static_cast<std::size_t>(entry.peer) < counters.peers.size()));
}

}  // namespace

void count(const RankCounters& counters, const Entry& entry) {
    RankRecord& record = *counters.record;
    count_data(record.calls.at(index_of(entry.call)), entry);
    count_time(record.share_ticks, entry);
    if (entry.site != 0) {
        record.sites.row_of(entry.site, entry.call).add(entry);
    }
    if (record.regions.inside > 0) {
        count_inside(record.regions, entry);
    }
    if (entry.is_call && entry.on_main) {
        record.known_until_ticks = entry.end_ticks;
    } else if (entry.is_call) {
        count_thread(record, entry);
    }
    if (is_message(entry)) {
        count_peer(counters.peers[static_cast<std::size_t>(entry.peer)], entry);
    }
}

void count_rest(const RankCounters& counters) {
    Journal& journal = counters.record->journal;
    const std::size_t end = std::min<std::size_t>(journal.end, Journal::most_entries);
    std::unordered_map<std::uint64_t, Entry> posted;
    const auto count_sound = [&](const Entry& entry) {
        if (can_be(counters, entry)) {
            count(counters, entry);
        }
    };
    for (; journal.first < end; ++journal.first) {
        const Entry& entry = journal.entries.at(journal.first);
        count_sound(entry);
        if (entry.did == Did::posted) {
            posted.insert_or_assign(entry.request, entry);
        } else if (entry.did == Did::ended) {
            const auto begun = posted.extract(entry.request);
            if (begun && entry.peer >= 0) {
                count_sound(received(begun.mapped(), entry));
            }
        }
    }
}

}  // namespace tare::profile
