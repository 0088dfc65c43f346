// SPDX-License-Identifier: Apache-2.0
#include "profile/report.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string_view>
#include <vector>

using namespace tare::profile;

namespace {

/// A rank of three with its peers, all zero.
struct Rank {
    std::unique_ptr<RankRecord> record = std::make_unique<RankRecord>();
    std::vector<PeerRecord> peers = std::vector<PeerRecord>(4);

    Rank() {
        record->ranks = 3;
        record->ns_per_tick = 1;
        record->journal.current = Call::none;
        record->stage = Stage::finalized;
    }
    [[nodiscard]] std::string text() { return rank_text({record.get(), peers}); }
    [[nodiscard]] bool says(std::string_view part) { return text().find(part) != std::string::npos; }
};

}  // namespace

TEST_CASE("what is in no share is computing, and the profiler's own time is in none") {
    Rank rank;
    rank.record->init_begin_ticks = 1'000'000'000;
    rank.record->known_until_ticks = 11'500'000'000;
    rank.record->own_ticks = 500'000'000;
    rank.record->share_ticks = {1'000'000'000, 2'000'000'000, 3'000'000'000};
    CHECK(rank.says(R"("wall_s":10,"init_s":1,"compute_s":4,"communication_s":2,"io_s":3,"profiler_s":0.5)"));
}

TEST_CASE("calls that were not made are not listed, and directions without messages are null") {
    Rank rank;
    CHECK(rank.says(R"("calls":[],"call_sites":[],"modules":[],"peers":[])"));
    CallRecord& call = rank.record->calls.at(index_of(Call::Send));
    call.add(2'000'000'000);
    call.sent.add(0);
    call.sent.add(100);
    CHECK(rank.says(R"({"name":"MPI_Send","share":"communication","count":1,"time_s":2,"longest_s":2,)"
                    R"("sent":{"messages":2,"byte":100,"sizes":{"0":1,"64":1}},"received":null})"));
}

TEST_CASE("files are written and read") {
    Rank rank;
    rank.record->calls.at(index_of(Call::File_read)).received.add(8);
    CHECK(rank.says(R"("written":null,"read":{"messages":1,"byte":8,"sizes":{"8":1}})"));
}

TEST_CASE("a peer outside of MPI_COMM_WORLD has no rank") {
    Rank rank;
    rank.peers.at(2).sent = 1;
    rank.peers.at(3).received = 1;
    CHECK(rank.says(R"("peers":[{"rank":2,"sent":1,"sent_byte":0,"received":0,"received_byte":0},)"
                    R"({"rank":null,"sent":0,"sent_byte":0,"received":1,"received_byte":0}])"));
}

TEST_CASE("what a rank was doing when it ended is told") {
    Rank rank;
    rank.record->stage = Stage::aborted;
    rank.record->abort_code = 9;
    rank.record->journal.current = Call::Recv;
    rank.record->init_begin_ticks = 1'000'000'000;
    rank.record->journal.current_since_ticks = 3'000'000'000;
    CHECK(rank.says(R"("ended_by":"MPI_Abort","abort_code":9,"in_call":{"name":"MPI_Recv","since_s":2})"));
    rank.record->stage = Stage::running;
    CHECK(rank.says(R"("ended_by":null,"abort_code":null)"));
}

TEST_CASE("waiting that cannot be told is missing, not 0, and the reason stands beside it") {
    Rank rank;
    CHECK(rank.says(R"("late_senders":{"wait_s":0,"within_s":0,"told":0,"receives":0,"why_not":null})"));
    rank.record->late_senders = {
        .wait_ticks = 0, .error_ticks = 0, .told = 0, .receives = 4, .untold = Untold::senders};
    CHECK(rank.says(
        R"("late_senders":{"wait_s":null,"within_s":null,"told":0,"receives":4,"why_not":"some sender's clock)"));
    rank.record->late_senders = {.wait_ticks = 5'000'000'000,
                                 .error_ticks = 1'000'000'000,
                                 .told = 3,
                                 .receives = 4,
                                 .untold = Untold::full};
    CHECK(rank.says(R"("wait_s":5,"within_s":1,"told":3,"receives":4,"why_not":"there were more)"));
    rank.record->stage = Stage::exited;
    CHECK(rank.says(
        R"("late_senders":{"wait_s":null,"within_s":null,"told":null,"receives":null,"why_not":"the rank did not)"));
}

TEST_CASE("waiting in collective calls has reasons of its own") {
    Rank rank;
    CHECK(rank.says(R"("collective_waits":{"wait_s":0,"within_s":0,"told":0,"calls":0,"why_not":null})"));
    rank.record->collective_waits = {.wait_ticks = 5'000'000'000,
                                     .error_ticks = 1'000'000'000,
                                     .told = 3,
                                     .calls = 4,
                                     .untold = Untold::senders};
    CHECK(rank.says(
        R"("collective_waits":{"wait_s":5,"within_s":1,"told":3,"calls":4,"why_not":"some member's clock)"));
    rank.record->stage = Stage::exited;
    CHECK(rank.says(
        R"("collective_waits":{"wait_s":null,"within_s":null,"told":null,"calls":null,"why_not":"the rank did not)"));
}

TEST_CASE("a region is told only where the program marks it, and ends with what is known of the rank") {
    Rank rank;
    CHECK(rank.says(R"("region":null,"regions":[],"other_threads":[],"passages_left_out":0,)"));
    RegionRecord& own = rank.record->regions.regions.front();
    own.passages = 2;
    own.wall_ticks = 3'000'000'000;
    own.since_ticks = 6'000'000'000;
    own.share_ticks = {0, 1'000'000'000, 0};
    rank.record->known_until_ticks = 8'000'000'000;
    CHECK(rank.says(R"("region":{"passages":2,"wall_s":5,"init_s":0,"compute_s":4,"communication_s":1,)"
                    R"("io_s":0,"calls_left_out":0,"calls":[]},"regions":[])"));
    RegionRecord& named = *rank.record->regions.find_or_add("solve");
    named.passages = 1;
    CHECK(rank.says(R"("regions":[{"name":"solve","passages":1,"wall_s":0,)"));
}

TEST_CASE("places that called longest come first, and what is not known of one is null") {
    Rank rank;
    const auto spend = [&](std::uint64_t site, std::int64_t ticks) {
        const Entry entry{.end_ticks = ticks, .site = site, .call = Call::Send, .is_call = true};
        rank.record->sites.row_of(site, entry.call).add(entry);
    };
    spend(4, 1'000'000'000);
    spend(0x1010, 2'000'000'000);
    rank.record->modules.at(0) = {
        .begin_address = 0x1000, .end_address = 0x2000, .shift = 0x1000, .build = {}, .path = {}};
    rank.record->modules.at(0).path = {'/', 'n', 'o', 'n', 'e'};
    rank.record->modules.at(0).build.front() = 0xAB;
    CHECK(rank.says(
        R"("call_sites":[{"call":"MPI_Send","module":"/none","offset":16,"function":null,"count":1,)"
        R"("time_s":2,"longest_s":2,"sent_byte":0,"received_byte":0},)"
        R"({"call":"MPI_Send","module":null,"offset":null,"function":null,"count":1,"time_s":1,)"));
    CHECK(rank.says(R"("modules":[{"path":"/none","build_id":"ab00000000000000000000000000000000000000"}])"));
    rank.record->sites.left_out.count = 3;
    CHECK(rank.says(R"({"call":null,"module":null,"offset":null,"function":null,"count":3,)"));
}

TEST_CASE("other threads are told with the system's numbers, those beyond the most together and without") {
    Rank rank;
    rank.record->threads.front() = {
        .system_number = 77, .count = 2, .share_ticks = {0, 1'000'000'000, 2'000'000'000}};
    rank.record->threads.back() = {.system_number = 99, .count = 5, .share_ticks = {}};
    CHECK(rank.says(R"("other_threads":[{"thread":77,"count":2,"communication_s":1,"io_s":2},)"
                    R"({"thread":null,"count":5,"communication_s":0,"io_s":0}])"));
}

TEST_CASE("a partial run says so, and names its missing ranks") {
    const Run run{.program = "solve",
                  .library = "Open MPI v4.1.4",
                  .ranks = 3,
                  .known = {"{\"rank\":1}"},
                  .missing = {0, 2},
                  .partial = true};
    CHECK(run_text(run) ==
          "{\"schema\":1,\"program\":\"solve\",\"library\":\"Open MPI v4.1.4\",\"ranks\":3,\"partial\":true,"
          "\"missing\":[0,2],\"profile\":[\n{\"rank\":1}\n]}\n");
}
