// SPDX-License-Identifier: Apache-2.0
#include "profile/sites.hpp"

#include <doctest/doctest.h>

#include <memory>

using namespace tare::profile;

namespace {

Entry call_from(std::uint64_t site, Call call, std::int64_t spent_ticks) {
    return {.end_ticks = spent_ticks, .site = site, .call = call, .is_call = true};
}

}  // namespace

TEST_CASE("calls of one place are counted together, those of another and of another kind apart") {
    auto table = std::make_unique<SiteTable>();
    const auto count = [&](const Entry& entry) { table->row_of(entry.site, entry.call).add(entry); };
    count(call_from(100, Call::Send, 7));
    count(call_from(100, Call::Send, 5));
    count(call_from(100, Call::Recv, 1));
    count(call_from(101, Call::Send, 2));
    const SiteRecord& row = table->row_of(100, Call::Send);
    CHECK(row.count == 2);
    CHECK(row.time_ticks == 12);
    CHECK(row.longest_ticks == 7);
    CHECK(table->row_of(100, Call::Recv).time_ticks == 1);
    CHECK(table->row_of(101, Call::Send).time_ticks == 2);
}

TEST_CASE("what a call brought later counts without counting the call again") {
    auto table = std::make_unique<SiteTable>();
    table->row_of(9, Call::Irecv).add(call_from(9, Call::Irecv, 3));
    table->row_of(9, Call::Irecv)
        .add({.received_byte = 64, .site = 9, .call = Call::Irecv, .has_received = true});
    CHECK(table->row_of(9, Call::Irecv).count == 1);
    CHECK(table->row_of(9, Call::Irecv).received_byte == 64);
}

TEST_CASE("however many places there are, no call is lost, and those first seen keep their own rows") {
    auto table = std::make_unique<SiteTable>();
    constexpr std::uint64_t all = 2 * SiteTable::most_places;
    for (std::uint64_t site = 1; site <= all; ++site) {
        for (int repeated = 0; repeated < 2; ++repeated) {
            table->row_of(site * 16, Call::Send).add(call_from(site * 16, Call::Send, 1));
        }
    }
    std::uint64_t counted = 0;
    for (const SiteRecord& row : table->places) {
        CHECK((row.count == 0 || row.count == 2));
        counted += row.count;
    }
    CHECK(counted == 2 * SiteTable::most_sites);
    CHECK(counted + table->left_out.count == 2 * all);
}
