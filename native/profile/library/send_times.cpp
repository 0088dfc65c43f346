// SPDX-License-Identifier: Apache-2.0
#include "profile/library/send_times.hpp"

#include "profile/library/exchange.hpp"

namespace tare::profile {

namespace {

/// 64 MiB of times for one receiver, at most.
constexpr std::size_t most_received = std::size_t{1} << 22U;

Parcels<Sending> sort_by_receiver(const MessageLog& log, std::size_t ranks) {
    const std::size_t most = std::max<std::size_t>(most_received / ranks, 1);
    std::vector<std::vector<Sending>> receivers(ranks);
    for (const LoggedSending& logged : log.sendings()) {
        auto& sendings = receivers.at(static_cast<std::size_t>(logged.to));
        if (sendings.size() < most) {
            sendings.push_back(logged.sending);
        }
    }
    Parcels<Sending> out;
    for (const auto& sendings : receivers) {
        out.add(sendings);
    }
    return out;
}

LateSenders conclude(const MessageLog& log, LateSenders late, bool all_comparable) {
    late.receives = log.ended();
    late.untold = log.untold();
    if (!log.has_order()) {
        late.told = 0;
        late.wait_ticks = 0;
    } else if (late.told < late.receives && late.untold == Untold::none) {
        late.untold = all_comparable ? Untold::full : Untold::senders;
    }
    return late;
}

}  // namespace

LateSenders exchange_send_times(Profile& profile) {
    const auto own_rank = static_cast<std::size_t>(profile.record().rank);
    const MessageLog& log = profile.log();
    const std::uint64_t clock = profile.clock().identity();
    const auto out = sort_by_receiver(log, static_cast<std::size_t>(profile.record().ranks));
    const auto notices = exchange_notices(profile.mpi(), out.counts, clock, log.has_order());
    const auto times = exchange(profile.mpi(), out, counts_of(notices));
    auto senders = times.parts();
    bool all_comparable = true;
    for (std::size_t rank = 0; rank < senders.size(); ++rank) {
        const bool same_clock = rank == own_rank || (clock != 0 && notices[rank].clock == clock);
        if (!same_clock || notices[rank].usable == 0) {
            all_comparable = all_comparable && senders[rank].empty();
            senders[rank] = {};
        }
    }
    return conclude(log, wait_for_senders(log.receivings(), senders), all_comparable);
}

}  // namespace tare::profile
