// SPDX-License-Identifier: Apache-2.0
#include "profile/report.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include "common/json.hpp"
#include "profile/site_report.hpp"

namespace tare::profile {

namespace {

constexpr int schema = 1;

template <typename Value, std::size_t size>
std::string_view word(const std::array<std::string_view, size>& words, Value value) {
    const auto index = static_cast<std::size_t>(value);
    return index < size ? words.at(index) : "unknown";
}

/// Smallest size of each class that has messages → how many.
JsonObject sizes(const Messages& messages) {
    JsonObject found;
    for (std::size_t one = 0; one < size_classes; ++one) {
        if (messages.by_size.at(one) > 0) {
            found.add(std::to_string(smallest_of(one)), messages.by_size.at(one));
        }
    }
    return found;
}

std::optional<JsonObject> direction(const Messages& messages) {
    if (messages.count == 0) {
        return std::nullopt;
    }
    return JsonObject{}
        .add("messages", messages.count)
        .add("byte", messages.byte)
        .add("sizes", sizes(messages));
}

JsonObject call_row(const RankRecord& record, std::size_t index, const CallRecord& call) {
    constexpr std::array<std::string_view, 3> shares{"init", "communication", "io"};
    const bool of_file = call_table.at(index).share == Share::io;
    return JsonObject{}
        .add("name", call_table.at(index).name)
        .add("share", word(shares, call_table.at(index).share))
        .add("count", call.count)
        .add("time_s", record.seconds(call.time_ticks))
        .add("longest_s", record.seconds(call.longest_ticks))
        .add(of_file ? "written" : "sent", direction(call.sent))
        .add(of_file ? "read" : "received", direction(call.received));
}

/// `row_of` gives what was counted of each call, if anything was.
template <typename RowOf>
std::vector<JsonObject> calls(const RankRecord& record, RowOf row_of) {
    std::vector<JsonObject> rows;
    for (std::size_t index = 0; index < call_count; ++index) {
        const CallRecord* const call = row_of(index);
        if (call != nullptr && call->count + call->sent.count + call->received.count > 0) {
            rows.push_back(call_row(record, index, *call));
        }
    }
    return rows;
}

JsonObject add_shares(JsonObject object, const RankRecord& record, std::int64_t wall_ticks,
                      const ShareTicks& share_ticks) {
    const auto [init_ticks, communication_ticks, io_ticks] = share_ticks;
    return object.add("wall_s", record.seconds(wall_ticks))
        .add("init_s", record.seconds(init_ticks))
        .add("compute_s", record.seconds(wall_ticks - init_ticks - communication_ticks - io_ticks))
        .add("communication_s", record.seconds(communication_ticks))
        .add("io_s", record.seconds(io_ticks));
}

double seconds_of(const RankRecord& record, const ShareTicks& share_ticks, Share share) {
    return record.seconds(share_ticks.at(static_cast<std::size_t>(share)));
}

/// Those that did not call MPI_Init. The last has no number if it stands for several.
std::vector<JsonObject> other_threads(const RankRecord& record) {
    std::vector<JsonObject> rows;
    for (const ThreadRecord& thread : record.threads) {
        const bool has_own_row = &thread != &record.threads.back();
        if (thread.count > 0) {
            rows.push_back(
                JsonObject{}
                    .add("thread", has_own_row ? std::optional{thread.system_number} : std::nullopt)
                    .add("count", thread.count)
                    .add("communication_s", seconds_of(record, thread.share_ticks, Share::communication))
                    .add("io_s", seconds_of(record, thread.share_ticks, Share::io)));
        }
    }
    return rows;
}

std::vector<JsonObject> peers(const RankCounters& counters) {
    const auto world = static_cast<std::size_t>(counters.record->ranks);
    std::vector<JsonObject> found;
    for (std::size_t peer = 0; peer < counters.peers.size(); ++peer) {
        const PeerRecord& one = counters.peers[peer];
        if (one.sent + one.received > 0) {
            found.push_back(JsonObject{}
                                .add("rank", peer < world ? std::optional{peer} : std::nullopt)
                                .add("sent", one.sent)
                                .add("sent_byte", one.sent_byte)
                                .add("received", one.received)
                                .add("received_byte", one.received_byte));
        }
    }
    return found;
}

/// In the order of `Untold`.
using Reasons = std::array<std::string_view, static_cast<std::size_t>(Untold::unfinished) + 1>;

constexpr Reasons reasons_of_messages{
    "",
    "there were more messages than were kept",
    "the two sides of some message do not know its communicator alike",
    "some sender's clock could not be compared with this rank's, or the order of its messages is not known",
    "other threads called MPI too, so that the order of messages is not known",
    "a receive was given up, or a send cancelled, so that the order of messages is not known",
    "the rank did not come to the end of MPI_Finalize",
};

constexpr Reasons reasons_of_collectives{
    "",
    "there were more calls than were kept",
    "some communicator has two sides, or its members do not know it alike",
    "some member's clock could not be compared with the others', or the order of its calls is not known",
    "other threads called MPI too, so that the order of calls is not known",
    "",
    "the rank did not come to the end of MPI_Finalize",
};

std::optional<std::string_view> reason(const Reasons& reasons, Untold untold) {
    return untold == Untold::none ? std::nullopt : std::optional{word(reasons, untold)};
}

JsonObject late_senders(const RankRecord& record) {
    const bool finished = record.stage == Stage::finalized;
    const LateSenders& late = record.late_senders;
    const bool known = finished && (late.told > 0 || (late.receives == 0 && late.untold == Untold::none));
    return JsonObject{}
        .add("wait_s", known ? std::optional{record.seconds(late.wait_ticks)} : std::nullopt)
        .add("within_s", known ? std::optional{record.seconds(late.error_ticks)} : std::nullopt)
        .add("told", finished ? std::optional{late.told} : std::nullopt)
        .add("receives", finished ? std::optional{late.receives} : std::nullopt)
        .add("why_not", reason(reasons_of_messages, finished ? late.untold : Untold::unfinished));
}

JsonObject collective_waits(const RankRecord& record) {
    const bool finished = record.stage == Stage::finalized;
    const CollectiveWaits& waits = record.collective_waits;
    const bool known = finished && (waits.told > 0 || (waits.calls == 0 && waits.untold == Untold::none));
    return JsonObject{}
        .add("wait_s", known ? std::optional{record.seconds(waits.wait_ticks)} : std::nullopt)
        .add("within_s", known ? std::optional{record.seconds(waits.error_ticks)} : std::nullopt)
        .add("told", finished ? std::optional{waits.told} : std::nullopt)
        .add("calls", finished ? std::optional{waits.calls} : std::nullopt)
        .add("why_not", reason(reasons_of_collectives, finished ? waits.untold : Untold::unfinished));
}

JsonObject add_region(JsonObject object, const RankRecord& record, const RegionRecord& region) {
    const std::int64_t wall_ticks =
        region.wall_ticks + (region.is_inside() ? record.known_until_ticks - region.since_ticks : 0);
    object.add("passages", region.passages);
    return add_shares(std::move(object), record, wall_ticks, region.share_ticks)
        .add("calls_left_out", region.left_out)
        .add("calls",
             calls(record, [&](std::size_t index) { return record.regions.known_row(region, index); }));
}

/// That of MPI_Pcontrol(1): nothing unless the program marked it.
std::optional<JsonObject> region(const RankRecord& record) {
    const RegionRecord& own = record.regions.regions.front();
    return own.passages == 0 ? std::nullopt : std::optional{add_region({}, record, own)};
}

/// Those with names, in the order in which they were entered first.
std::vector<JsonObject> regions(const RankRecord& record) {
    std::vector<JsonObject> named;
    for (const RegionRecord& own : std::span{record.regions.regions}.subspan(1)) {
        if (own.passages > 0) {
            named.push_back(add_region(JsonObject{}.add("name", text_of(own.name)), record, own));
        }
    }
    return named;
}

std::optional<JsonObject> unfinished_call(const RankRecord& record) {
    const Journal& journal = record.journal;
    if (index_of(journal.current) >= call_count) {
        return std::nullopt;
    }
    return JsonObject{}
        .add("name", call_table.at(index_of(journal.current)).name)
        .add("since_s", record.seconds(journal.current_since_ticks - record.init_begin_ticks));
}

std::optional<std::string_view> ending(Stage stage) {
    constexpr std::array<std::string_view, 4> words{"", "MPI_Finalize", "MPI_Abort", "exit"};
    return stage == Stage::running ? std::nullopt : std::optional{word(words, stage)};
}

JsonObject head(const RankRecord& record) {
    constexpr std::array<std::string_view, 4> threads{"single", "funneled", "serialized", "multiple"};
    return JsonObject{}
        .add("rank", record.rank)
        .add("host", text_of(record.host))
        .add("process", record.process)
        .add("threads", word(threads, record.thread_level))
        .add("started_unix_s", static_cast<double>(record.started_unix_ns) / nanosecond_per_second)
        .add("ended_by", ending(record.stage))
        .add("abort_code", record.stage == Stage::aborted ? std::optional{record.abort_code} : std::nullopt)
        .add("in_call", unfinished_call(record));
}

std::string join(const std::vector<std::string>& texts) {
    std::string all;
    for (const std::string& text : texts) {
        all += (all.empty() ? "" : ",\n") + text;
    }
    return all;
}

}  // namespace

std::string rank_text(const RankCounters& counters) {
    const RankRecord& record = *counters.record;
    const std::int64_t wall_ticks = record.known_until_ticks - record.init_begin_ticks - record.own_ticks;
    JsonObject rank = head(record);
    rank.add("before_init_s", record.seconds(record.init_begin_ticks - record.loaded_ticks));
    return add_shares(std::move(rank), record, wall_ticks, record.share_ticks)
        .add("profiler_s", record.seconds(record.own_ticks))
        .add("late_senders", late_senders(record))
        .add("collective_waits", collective_waits(record))
        .add("region", region(record))
        .add("regions", regions(record))
        .add("other_threads", other_threads(record))
        .add("passages_left_out", record.regions.passages_left_out)
        .add("calls", calls(record, [&](std::size_t index) { return &record.calls.at(index); }))
        .add("call_sites", call_sites(record))
        .add("modules", modules_of_sites(record))
        .add("peers", peers(counters))
        .text();
}

std::string run_text(const Run& run) {
    std::string text = JsonObject{}
                           .add("schema", schema)
                           .add("program", run.program)
                           .add("library", run.library)
                           .add("ranks", run.ranks)
                           .add("partial", run.partial)
                           .add("missing", run.missing)
                           .text();
    text.back() = ',';
    return text + "\"profile\":[\n" + join(run.known) + "\n]}\n";
}

}  // namespace tare::profile
