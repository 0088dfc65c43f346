// SPDX-License-Identifier: Apache-2.0
#include "profile/library/meetings.hpp"

#include "profile/library/exchange.hpp"

namespace tare::profile {

namespace {

/// 96 MiB of times at one rank, at most.
constexpr std::size_t most_heard = std::size_t{1} << 22U;

/// By the rank that hears of them. A communicator whose members read several clocks becomes several, none of
/// which ever is complete.
std::vector<std::vector<Meeting>> sort_by_hearer(const MeetingLog& log, std::size_t ranks,
                                                 std::uint64_t clock) {
    std::vector<std::vector<Meeting>> hearers(ranks);
    if (clock == 0 || !log.has_order()) {
        return hearers;
    }
    const std::size_t most = std::max<std::size_t>(most_heard / ranks, 1);
    for (Meeting meeting : log.meetings()) {
        meeting.arrival.communicator ^= clock;
        auto& meetings = hearers.at(meeting.arrival.communicator % ranks);
        if (meetings.size() < most) {
            meetings.push_back(meeting);
        }
    }
    return hearers;
}

std::vector<Arrival> arrivals_of(const std::vector<Meeting>& meetings) {
    std::vector<Arrival> arrivals;
    std::transform(meetings.begin(), meetings.end(), std::back_inserter(arrivals),
                   [](const Meeting& meeting) { return meeting.arrival; });
    return arrivals;
}

/// The begins of the last, in the order of what this rank sent.
Parcels<std::int64_t> ask(const Mpi& mpi, const Parcels<Arrival>& out, std::uint64_t clock) {
    const auto notices = exchange_notices(mpi, out.counts, clock, true);
    const auto heard = exchange(mpi, out, counts_of(notices));
    Parcels<std::int64_t> answers;
    for (const auto& begins_ticks : last_begins(heard.parts())) {
        answers.add(begins_ticks);
    }
    return exchange(mpi, answers, out.counts);
}

CollectiveWaits conclude(const MeetingLog& log, CollectiveWaits waits) {
    const auto& meetings = log.meetings();
    waits.calls = log.left_out() + static_cast<std::uint64_t>(
                                       std::count_if(meetings.begin(), meetings.end(),
                                                     [](const Meeting& meeting) { return meeting.waits; }));
    waits.untold = log.untold();
    if (waits.told < waits.calls && waits.untold == Untold::none) {
        waits.untold = Untold::senders;
    }
    return waits;
}

}  // namespace

CollectiveWaits exchange_meetings(Profile& profile) {
    const std::uint64_t clock = profile.clock().identity();
    const MeetingLog& log = profile.meetings();
    std::vector<Meeting> sent;
    Parcels<Arrival> out;
    for (const auto& meetings :
         sort_by_hearer(log, static_cast<std::size_t>(profile.record().ranks), clock)) {
        out.add(arrivals_of(meetings));
        sent.insert(sent.end(), meetings.begin(), meetings.end());
    }
    return conclude(log, wait_for_last(sent, ask(profile.mpi(), out, clock).items));
}

}  // namespace tare::profile
