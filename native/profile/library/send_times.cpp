// SPDX-License-Identifier: Apache-2.0
#include "profile/library/send_times.hpp"

#include <numeric>

namespace tare::profile {

namespace {

/// 64 MiB of times for one receiver, at most.
constexpr std::size_t most_received = std::size_t{1} << 22U;

/// What a rank tells each other one before the times themselves.
struct Notice {
    std::uint64_t clock;
    std::int32_t count;
    /// Whether its messages are all there, in their order.
    std::int32_t usable;
};

/// Those to each rank behind each other.
struct Outgoing {
    std::vector<int> counts;
    std::vector<int> places;
    std::vector<Sending> sendings;
};

std::vector<int> places_of(const std::vector<int>& counts) {
    std::vector<int> places(counts.size());
    std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
    return places;
}

Outgoing sort_by_receiver(const MessageLog& log, std::size_t ranks) {
    const std::size_t most = std::max<std::size_t>(most_received / ranks, 1);
    std::vector<std::vector<Sending>> receivers(ranks);
    for (const LoggedSending& one : log.sendings()) {
        auto& sendings = receivers.at(static_cast<std::size_t>(one.to));
        if (sendings.size() < most) {
            sendings.push_back(one.sending);
        }
    }
    Outgoing out;
    for (const auto& sendings : receivers) {
        out.counts.push_back(static_cast<int>(sendings.size()));
        out.sendings.insert(out.sendings.end(), sendings.begin(), sendings.end());
    }
    out.places = places_of(out.counts);
    return out;
}

std::vector<Notice> exchange_notices(const Mpi& mpi, const Outgoing& out, std::uint64_t clock, bool usable) {
    std::vector<Notice> told;
    for (const int count : out.counts) {
        told.push_back({.clock = clock, .count = count, .usable = usable ? 1 : 0});
    }
    std::vector<Notice> heard(told.size());
    mpi.Alltoall(told.data(), sizeof(Notice), mpi.byte, heard.data(), sizeof(Notice), mpi.byte, mpi.world);
    return heard;
}

/// The times that others sent, behind each other.
std::vector<Sending> exchange_times(const Mpi& mpi, const Outgoing& out, const std::vector<int>& counts) {
    const std::vector<int> places = places_of(counts);
    std::vector<Sending> received(static_cast<std::size_t>(places.back() + counts.back()));
    MPI_Datatype one{};
    mpi.Type_contiguous(sizeof(Sending), mpi.byte, &one);
    mpi.Type_commit(&one);
    mpi.Alltoallv(out.sendings.data(), out.counts.data(), out.places.data(), one, received.data(),
                  counts.data(), places.data(), one, mpi.world);
    mpi.Type_free(&one);
    return received;
}

LateSenders conclude(const MessageLog& log, LateSenders found, bool all_comparable) {
    found.receives = log.ended();
    found.untold = log.untold();
    if (!log.has_order()) {
        found.told = 0;
        found.wait_ticks = 0;
    } else if (found.told < found.receives && found.untold == Untold::none) {
        found.untold = all_comparable ? Untold::full : Untold::senders;
    }
    return found;
}

}  // namespace

LateSenders exchange_send_times(Profile& profile) {
    const auto ranks = static_cast<std::size_t>(profile.record().ranks);
    const auto own_rank = static_cast<std::size_t>(profile.record().rank);
    const MessageLog& log = profile.log();
    const std::uint64_t clock = profile.clock().identity();
    const Outgoing out = sort_by_receiver(log, ranks);
    const auto notices = exchange_notices(profile.mpi(), out, clock, log.has_order());
    std::vector<int> counts;
    std::transform(notices.begin(), notices.end(), std::back_inserter(counts),
                   [](const Notice& notice) { return notice.count; });
    const auto times = exchange_times(profile.mpi(), out, counts);
    std::vector<std::span<const Sending>> senders;
    bool all_comparable = true;
    std::size_t place = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        const auto count = static_cast<std::size_t>(counts[rank]);
        const bool same_clock = rank == own_rank || (clock != 0 && notices[rank].clock == clock);
        const bool comparable = same_clock && notices[rank].usable != 0;
        senders.push_back(std::span{times}.subspan(place, comparable ? count : 0));
        all_comparable = all_comparable && (comparable || count == 0);
        place += count;
    }
    return conclude(log, wait_for_senders(log.receivings(), senders), all_comparable);
}

}  // namespace tare::profile
