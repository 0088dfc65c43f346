// SPDX-License-Identifier: Apache-2.0
#include "profile/library/trace.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string_view>
#include <utility>

#include "common/json.hpp"
#include "common/system.hpp"
#include "profile/rank_file.hpp"
#include "profile/record.hpp"
#include "profile/report.hpp"

namespace tare::profile {

namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20U;
constexpr std::uint64_t default_limit_mib = 256;
/// More than any disk has.
constexpr std::uint64_t most_mib = std::uint64_t{1} << 30U;

/// Nothing where the variable is not set.
std::string_view variable(const char* name) {
    const char* const text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets it
    return text == nullptr ? std::string_view{} : text;
}

std::uint64_t limit_byte() {
    const std::string_view text = variable("TARE_TRACE_MIB");
    std::uint64_t mibs = 0;
    const auto read = std::from_chars(text.begin(), text.end(), mibs);
    const bool is_number = read.ec == std::errc{} && read.ptr == text.end();
    if (is_number && mibs > 0 && mibs <= most_mib) {
        return mibs * mib;
    }
    if (!text.empty()) {
        complain("tareprof", "TARE_TRACE_MIB=" + std::string{text} + " is no number of MiB; 256 are used");
    }
    return default_limit_mib * mib;
}

/// In the order of `Share`.
constexpr std::array<std::string_view, 3> share_names{"init", "communication", "io"};

JsonObject described(const CallEntry& call) {
    return JsonObject{}
        .add("name", call.name)
        .add("share", share_names.at(static_cast<std::size_t>(call.share)))
        .add("begun", call.is_begun);
}

std::string head(const RankRecord& rank, const Clock& clock) {
    std::vector<JsonObject> calls;
    calls.reserve(call_table.size());
    for (const CallEntry& call : call_table) {
        calls.push_back(described(call));
    }
    return JsonObject{}
               .add("tare_trace", 1)
               .add("run", text_of(rank.run))
               .add("rank", rank.rank)
               .add("ranks", rank.ranks)
               .add("host", text_of(rank.host))
               .add("program", text_of(rank.program))
               .add("library", text_of(rank.library))
               .add("started_unix_ns", rank.started_unix_ns)
               .add("clock", std::to_string(clock.identity()))
               .add("ns_per_tick", rank.ns_per_tick)
               .add("record_byte", sizeof(TraceRecord))
               .add("calls", calls)
               .text() +
           '\n';
}

bool write_whole(int descriptor, const void* from, std::size_t byte) {
    const auto* place = static_cast<const char*>(from);
    while (byte > 0) {
        const ssize_t written = ::write(descriptor, place, byte);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        place += written;  // NOLINT(cppcoreguidelines-pro-bounds-pointer-arithmetic): within what was given
        byte -= static_cast<std::size_t>(written);
    }
    return true;
}

}  // namespace

Trace::Trace(const std::string& path, const RankRecord& rank, const Clock& clock)
    : path_{path}, rank_{rank.rank}, clock_{&clock}, room_byte_{limit_byte()}, limit_byte_{room_byte_} {
    ::unlink(path.c_str());
    file_ = FileDescriptor{::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, everyone_reads)};
    const std::string text = head(rank, clock);
    if (!file_ || !write_whole(file_.number(), text.data(), text.size())) {
        throw_errno("cannot write " + path);
    }
    buffer_.reserve(buffered);
}

void Trace::add(const TraceRecord& record) {
    if (is_cut_) {
        return;
    }
    // Room for one that says so stays.
    if (room_byte_ < 2 * sizeof(TraceRecord)) {
        cut("is cut at " + std::to_string(limit_byte_ / mib) + " MiB; TARE_TRACE_MIB gives it more");
        return;
    }
    room_byte_ -= sizeof(TraceRecord);
    buffer_.push_back(record);
    if (buffer_.size() >= buffered) {
        flush();
    }
}

void Trace::cut(const std::string& why) {
    if (std::exchange(is_cut_, true)) {
        return;
    }
    buffer_.push_back({.kind = TraceKind::cut});
    complain("tareprof", "the trace of rank " + std::to_string(rank_) + " " + why);
}

void Trace::describe(const Communicator& communicator) {
    if (communicator.identity == 0 || !described_.insert(communicator.identity).second) {
        return;
    }
    for (std::int32_t place = 0; const int rank : communicator.world_ranks) {
        add({.context = communicator.identity, .peer = rank, .tag = place++, .kind = TraceKind::member});
    }
}

std::uint32_t Trace::end(std::uint64_t request) {
    const auto begun = begun_.extract(request);
    return begun ? begun.mapped() : 0;
}

void Trace::add_parts() {
    const auto sent = parts_.sent();
    const auto received = parts_.received();
    const std::size_t members = std::max(sent.size(), received.size());
    for (std::size_t member = 0; member < members; ++member) {
        add({.sent_byte = member < sent.size() ? sent[member] : 0,
             .received_byte = member < received.size() ? received[member] : 0,
             .tag = static_cast<std::int32_t>(member),
             .kind = TraceKind::part,
             .flags = static_cast<std::uint8_t>((sent.empty() ? 0U : TraceRecord::has_sent) |
                                                (received.empty() ? 0U : TraceRecord::has_received))});
    }
}

/// How long that took is no work of the program's.
void Trace::flush() {
    const std::int64_t begin_ticks = clock_->now();
    write_buffer();
    constexpr std::size_t with_cut = 3;
    if (!is_cut_ && room_byte_ >= with_cut * sizeof(TraceRecord)) {
        room_byte_ -= sizeof(TraceRecord);
        buffer_.push_back({.begin_ticks = begin_ticks, .end_ticks = clock_->now(), .kind = TraceKind::own});
    }
}

void Trace::close(const TraceRecord& last) {
    buffer_.push_back(last);
    write_buffer();
}

/// After a failure nothing more: half a record may be there.
void Trace::write_buffer() {
    if (file_ && !write_whole(file_.number(), buffer_.data(), buffer_.size() * sizeof(TraceRecord))) {
        const std::string why = error_text(errno);
        file_ = FileDescriptor{};
        cut("is cut: " + why);
    }
    buffer_.clear();
}

bool asks_for_trace() { return !variable("TARE_TRACE").empty(); }

std::unique_ptr<Trace> asked_trace(const std::string& suffix, const RankRecord& rank, const Clock& clock) {
    const std::string_view name = variable("TARE_TRACE");
    if (name.empty()) {
        return nullptr;
    }
    std::error_code error;
    const auto whole = std::filesystem::absolute(name, error);
    try {
        return std::make_unique<Trace>(
            trace_path((error ? std::string{name} : whole.string()) + suffix, rank.rank), rank, clock);
    } catch (const std::exception& failure) {
        complain("tareprof", std::string{"no trace of this rank: "} + failure.what());
        return nullptr;
    }
}

}  // namespace tare::profile
