// SPDX-License-Identifier: Apache-2.0
#include "profile/counting.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

using namespace tare::profile;

namespace {

Entry entry_of(Call call, Did did, int peer) {
    return {.begin_ticks = 100,
            .end_ticks = 130,
            .peer = peer,
            .call = call,
            .share = Share::communication,
            .did = did,
            .is_call = true,
            .on_main = true};
}

Entry send(int peer, std::uint64_t byte) {
    Entry entry = entry_of(Call::Send, Did::sent, peer);
    entry.send(byte);
    return entry;
}

Entry posted(std::uint64_t request, int peer) {
    Entry entry = entry_of(Call::Irecv, Did::posted, peer);
    entry.request = request;
    return entry;
}

Entry ended(std::uint64_t request, int peer, std::uint64_t byte) {
    Entry entry = entry_of(Call::Wait, Did::ended, peer);
    entry.request = request;
    entry.received_byte = byte;
    return entry;
}

/// A rank of two, gone with this in its journal.
struct Gone {
    std::unique_ptr<RankRecord> record = std::make_unique<RankRecord>();
    std::vector<PeerRecord> peers = std::vector<PeerRecord>(3);

    explicit Gone(const std::vector<Entry>& entries) {
        record->ranks = 2;
        for (const Entry& entry : entries) {
            record->journal.entries.at(record->journal.end++) = entry;
        }
        count_rest({record.get(), peers});
    }
    [[nodiscard]] const CallRecord& row(Call one) const { return record->calls.at(index_of(one)); }
};

}  // namespace

TEST_CASE("what a rank that is gone has written down is counted") {
    const Gone rank{{send(1, 8), send(2, 24)}};
    CHECK(rank.row(Call::Send).count == 2);
    CHECK(rank.row(Call::Send).time_ticks == 60);
    CHECK(rank.row(Call::Send).sent.byte == 32);
    CHECK(rank.peers.at(1).sent_byte == 8);
    CHECK(rank.peers.at(2).sent == 1);
    CHECK(rank.record->share_ticks.at(1) == 60);
    CHECK(rank.record->known_until_ticks == 130);
}

TEST_CASE("what was counted before is not counted again") {
    Gone rank{{send(1, 8)}};
    count_rest({rank.record.get(), rank.peers});
    CHECK(rank.row(Call::Send).count == 1);
}

TEST_CASE("a receive counts for the call that posted it, if the journal tells of that") {
    const Gone rank{{posted(5, 1), ended(5, 0, 16), ended(6, 1, 32)}};
    CHECK(rank.row(Call::Irecv).received.byte == 16);
    CHECK(rank.row(Call::Wait).count == 2);
    CHECK(rank.peers.at(1).received == 1);
    CHECK(rank.peers.at(0).received == 0);
}

TEST_CASE("a receive from anybody has a peer only where ranks are those of the world") {
    const Gone rank{{posted(5, any_of_world), ended(5, 1, 16), posted(5, any_of_others), ended(5, 1, 32)}};
    CHECK(rank.row(Call::Irecv).received.count == 2);
    CHECK(rank.peers.at(1).received_byte == 16);
}

TEST_CASE("a request that ended without a message brought none") {
    const Gone rank{{posted(5, 1), ended(5, -2, 0), ended(5, 1, 8)}};
    CHECK(rank.row(Call::Irecv).received.count == 0);
}

TEST_CASE("what is counted inside a marked region counts for it too, and nothing else does") {
    Gone rank{{send(1, 8)}};
    RegionTable& table = rank.record->regions;
    RegionRecord& region = *table.find_or_add("solve");
    CHECK(table.known_row(region, index_of(Call::Send)) == nullptr);
    region.since_ticks = 50;
    table.inside = 1;
    count({rank.record.get(), rank.peers}, send(1, 24));
    const CallRecord& inside = *table.known_row(region, index_of(Call::Send));
    CHECK(inside.count == 1);
    CHECK(inside.sent.byte == 24);
    CHECK(region.share_ticks.at(1) == 30);
    CHECK(table.regions.front().share_ticks.at(1) == 0);
    CHECK(rank.row(Call::Send).sent.byte == 32);
    CHECK(rank.record->share_ticks.at(1) == 60);
}

TEST_CASE("names make regions, as many as there is room for") {
    auto table = std::make_unique<RegionTable>();
    CHECK(table->find("solve") == nullptr);
    RegionRecord* const solve = table->find_or_add("solve");
    CHECK(table->find("solve") == solve);
    CHECK(table->find("solver") == nullptr);
    CHECK(table->find_or_add("") == table->regions.data());
    CHECK(solve != table->regions.data());
    const std::string most(RegionRecord::name_size - 1, 'n');
    CHECK(table->find_or_add(most + "1") == table->find_or_add(most + "2"));
    for (std::size_t number = 0; number < RegionTable::most_regions; ++number) {
        (void)table->find_or_add(std::to_string(number));
    }
    CHECK(table->find_or_add("one more") == nullptr);
    CHECK(table->find("solve") == solve);
}

TEST_CASE("calls for which a region has no row are counted as such, and their time counts all the same") {
    Gone rank{{}};
    RegionTable& table = rank.record->regions;
    RegionRecord& region = *table.find_or_add("solve");
    region.since_ticks = 50;
    table.inside = 1;
    table.used_rows = RegionTable::most_rows;
    count({rank.record.get(), rank.peers}, send(1, 24));
    CHECK(region.left_out == 1);
    CHECK(region.share_ticks.at(1) == 30);
}

TEST_CASE("calls of threads other than the first count for these, and for no share of the rank") {
    Entry other = send(1, 8);
    other.on_main = false;
    other.thread = 2;
    Entry last = other;
    last.thread = 255;
    const Gone rank{{send(1, 8), other, other, last}};
    CHECK(rank.record->share_ticks.at(1) == 30);
    CHECK(rank.record->threads.at(1).count == 2);
    CHECK(rank.record->threads.at(1).share_ticks.at(1) == 60);
    CHECK(rank.record->threads.back().count == 1);
    CHECK(rank.row(Call::Send).count == 4);
}

TEST_CASE("entries that cannot be are left out, whatever a broken file holds") {
    Entry no_call = send(1, 8);
    no_call.call = static_cast<Call>(30'000);
    Entry no_share = send(1, 8);
    no_share.share = static_cast<Share>(9);
    Entry no_name = posted(5, 77);
    const Gone rank{{no_call, no_share, send(3, 8), send(-1, 8), no_name, ended(5, 1, 8)}};
    CHECK(rank.row(Call::Send).count == 0);
    CHECK(rank.row(Call::Irecv).received.count == 0);
    auto beyond = std::make_unique<RankRecord>();
    std::vector<PeerRecord> peers(1);
    beyond->journal.end = 4'000'000'000;
    count_rest({beyond.get(), peers});
    CHECK(beyond->calls.at(0).count == 0);
}
