// SPDX-License-Identifier: Apache-2.0
#include "profile/library/finish.hpp"

#include <climits>
#include <exception>
#include <numeric>
#include <optional>

#include "common/system.hpp"
#include "profile/library/meetings.hpp"
#include "profile/library/modules.hpp"
#include "profile/library/send_times.hpp"
#include "profile/remains.hpp"
#include "profile/report.hpp"

namespace tare::profile {

namespace {

constexpr int writer = 0;

void meet(Profile& profile) {
    const std::int64_t begin_ticks = profile.clock().now();
    profile.enter(Call::Finalize, begin_ticks);
    profile.mpi().Barrier(profile.mpi().world);
    profile.write_down({.begin_ticks = begin_ticks,
                        .end_ticks = profile.clock().now(),
                        .call = Call::Finalize,
                        .share = Share::communication,
                        .is_call = true,
                        .on_main = true});
    profile.leave();
    profile.settle();
}

/// At the writer, the text of each rank; nothing elsewhere, or when all together is more than MPI can count.
std::optional<std::vector<std::string>> gather(const Mpi& mpi, const std::string& text, std::size_t ranks) {
    const auto length = static_cast<int>(text.size());
    std::vector<int> lengths(ranks);
    mpi.Gather(&length, sizeof length, mpi.byte, lengths.data(), sizeof length, mpi.byte, writer, mpi.world);
    int fits = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}) <= INT_MAX ? 1 : 0;
    mpi.Bcast(&fits, sizeof fits, mpi.byte, writer, mpi.world);
    if (fits == 0) {
        return std::nullopt;
    }
    std::vector<int> places(ranks);
    std::exclusive_scan(lengths.begin(), lengths.end(), places.begin(), 0);
    std::string all(static_cast<std::size_t>(places.back() + lengths.back()), ' ');
    mpi.Gatherv(text.data(), length, mpi.byte, all.data(), lengths.data(), places.data(), mpi.byte, writer,
                mpi.world);
    std::vector<std::string> texts;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        texts.push_back(
            all.substr(static_cast<std::size_t>(places[rank]), static_cast<std::size_t>(lengths[rank])));
    }
    return texts;
}

bool write(Profile& profile, std::optional<std::vector<std::string>> texts) {
    if (!texts) {
        complain("tareprof", "no profile: it is too long for one message; profile-merge joins its parts");
        return false;
    }
    const RankRecord& record = profile.record();
    try {
        replace_file(profile.path(), run_text({.program = text_of(record.program),
                                               .library = text_of(record.library),
                                               .ranks = record.ranks,
                                               .known = std::move(*texts),
                                               .missing = {},
                                               .partial = false}));
        return true;
    } catch (const std::exception& error) {
        complain("tareprof", std::string{"no profile: "} + error.what());
        return false;
    }
}

}  // namespace

void finish(Profile& profile) {
    profile.leave_regions();
    meet(profile);
    RankRecord& record = profile.record();
    profile.measure_clock();
    keep_modules_of_sites(record);
    const auto clocks = profile.clock_comparison().conclude(profile.clock(), record.ns_per_tick);
    profile.end_trace(clocks.at(static_cast<std::size_t>(record.rank)));
    record.late_senders = exchange_send_times(profile, clocks);
    record.collective_waits = exchange_meetings(profile, clocks);
    record.stage = Stage::finalized;
    auto texts = gather(profile.mpi(), rank_text(profile.counters()), static_cast<std::size_t>(record.ranks));
    int written = record.rank == writer && write(profile, std::move(texts)) ? 1 : 0;
    profile.mpi().Bcast(&written, sizeof written, profile.mpi().byte, writer, profile.mpi().world);
    if (written != 0) {
        profile.file().remove();
    }
}

}  // namespace tare::profile
