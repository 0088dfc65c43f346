// SPDX-License-Identifier: Apache-2.0
#include "profile/library/meetings.hpp"

#include "profile/library/exchange.hpp"

namespace tare::profile {

namespace {

/// 96 MiB of times at one rank, at most.
constexpr std::size_t most_heard = std::size_t{1} << 22U;

/// By the rank that hears of them. A communicator with members whose clocks cannot be compared becomes
/// several, none of which ever is complete.
std::vector<std::vector<Meeting>> sort_by_hearer(const MeetingLog& log, std::size_t ranks,
                                                 std::uint64_t realm) {
    std::vector<std::vector<Meeting>> hearers(ranks);
    if (!log.has_order()) {
        return hearers;
    }
    const std::size_t most = std::max<std::size_t>(most_heard / ranks, 1);
    for (Meeting meeting : log.meetings()) {
        meeting.arrival.communicator ^= realm;
        auto& meetings = hearers.at(meeting.arrival.communicator % ranks);
        if (meetings.size() < most) {
            meetings.push_back(meeting);
        }
    }
    return hearers;
}

/// In ticks of the reference.
std::vector<Arrival> arrivals_of(const std::vector<Meeting>& meetings, const ClockLine& line) {
    std::vector<Arrival> arrivals;
    std::transform(meetings.begin(), meetings.end(), std::back_inserter(arrivals),
                   [&](const Meeting& meeting) {
                       Arrival arrival = meeting.arrival;
                       arrival.begin_ticks = line.to_reference(arrival.begin_ticks);
                       return arrival;
                   });
    return arrivals;
}

/// What the ranks told, in ticks of the reference of their realms.
std::vector<Member> members_of(const Parcels<Arrival>& heard, std::span<const RankClock> clocks) {
    std::vector<Member> members;
    const auto parts = heard.parts();
    std::transform(parts.begin(), parts.end(), clocks.begin(), std::back_inserter(members),
                   [](std::span<const Arrival> arrivals, const RankClock& clock) {
                       return Member{
                           .arrivals = arrivals, .clock = clock.clock, .error_ns = clock.line.error_ns};
                   });
    return members;
}

/// The begins of the last, in the order of what this rank sent.
std::vector<LastBegin> ask(const Mpi& mpi, const Parcels<Arrival>& out, std::span<const RankClock> clocks) {
    const auto notices = exchange_notices(mpi, out.counts, true);
    const auto heard = exchange(mpi, out, counts_of(notices));
    Parcels<LastBegin> answers;
    for (const auto& begins : last_begins(members_of(heard, clocks))) {
        answers.add(begins);
    }
    return exchange(mpi, answers, out.counts).items;
}

/// By the own clock.
std::vector<Awaited> translate(const std::vector<LastBegin>& begins, const RankClock& own) {
    std::vector<Awaited> awaited;
    std::transform(begins.begin(), begins.end(), std::back_inserter(awaited), [&](const LastBegin& last) {
        const bool is_known = last.ticks != unknown_ticks;
        return Awaited{.ticks = is_known ? own.line.from_reference(last.ticks) : unknown_ticks,
                       .error_ticks = ticks_of(last.error_ns, own)};
    });
    return awaited;
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

CollectiveWaits exchange_meetings(Profile& profile, std::span<const RankClock> clocks) {
    const RankClock& own = clocks[static_cast<std::size_t>(profile.record().rank)];
    const MeetingLog& log = profile.meetings();
    std::vector<Meeting> sent;
    Parcels<Arrival> out;
    for (const auto& meetings : sort_by_hearer(log, clocks.size(), own.realm)) {
        out.add(arrivals_of(meetings, own.line));
        sent.insert(sent.end(), meetings.begin(), meetings.end());
    }
    const auto begins = ask(profile.mpi(), out, clocks);
    return conclude(log, wait_for_last(sent, translate(begins, own)));
}

}  // namespace tare::profile
