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
        late.error_ticks = 0;
    } else if (late.told < late.receives && late.untold == Untold::none) {
        late.untold = all_comparable ? Untold::full : Untold::senders;
    }
    return late;
}

/// The times of each rank by the receiver's clock.
void translate(Parcels<Sending>& times, std::span<const RankClock> clocks, const RankClock& own) {
    auto sending = times.items.begin();
    for (std::size_t rank = 0; rank < clocks.size(); ++rank) {
        const auto end = sending + times.counts[rank];
        for (; sending != end && clocks[rank].clock != own.clock; ++sending) {
            sending->begin_ticks =
                own.line.from_reference(clocks[rank].line.to_reference(sending->begin_ticks));
        }
        sending = end;
    }
}

}  // namespace

LateSenders exchange_send_times(Profile& profile, std::span<const RankClock> clocks) {
    const RankClock& own = clocks[static_cast<std::size_t>(profile.record().rank)];
    const MessageLog& log = profile.log();
    const auto out = sort_by_receiver(log, clocks.size());
    const auto notices = exchange_notices(profile.mpi(), out.counts, log.has_order());
    auto times = exchange(profile.mpi(), out, counts_of(notices));
    translate(times, clocks, own);
    const auto parts = times.parts();
    std::vector<Sender> senders(parts.size());
    bool all_comparable = true;
    for (std::size_t rank = 0; rank < senders.size(); ++rank) {
        if (clocks[rank].realm == own.realm && notices[rank].usable != 0) {
            senders[rank] = {.sends = parts[rank], .error_ticks = error_ticks(own, clocks[rank])};
        } else {
            all_comparable = all_comparable && parts[rank].empty();
        }
    }
    return conclude(log, wait_for_senders(log.receivings(), senders), all_comparable);
}

}  // namespace tare::profile
