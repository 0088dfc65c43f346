// SPDX-License-Identifier: Apache-2.0
#include "stopwatch/children.hpp"

#include <doctest/doctest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <vector>

namespace {

constexpr std::chrono::seconds limit{10};

pid_t start_idle_child() {
    const pid_t child = ::fork();
    if (child == 0) {
        // A name with blanks and brackets must not confuse who reads /proc.
        ::prctl(PR_SET_NAME, "a) R 1 (b");
        for (;;) {
            ::pause();
        }
    }
    return child;
}

TEST_CASE("the list of children and the search for them agree, with the dead that wait to be reaped") {
    std::vector<pid_t> started{start_idle_child(), start_idle_child()};
    std::sort(started.begin(), started.end());
    ::kill(started.front(), SIGKILL);
    siginfo_t dead{};
    REQUIRE(::waitid(P_PID, static_cast<id_t>(started.front()), &dead, WEXITED | WNOWAIT) == 0);

    auto listed = tare::stopwatch::own_children();
    auto searched = tare::stopwatch::searched_children();
    std::sort(listed.begin(), listed.end());
    std::sort(searched.begin(), searched.end());
    CHECK(listed == started);
    CHECK(searched == started);

    CHECK(tare::stopwatch::kill_descendants(limit) == 2);
    CHECK(tare::stopwatch::own_children().empty());
    CHECK(tare::stopwatch::searched_children().empty());
}

TEST_CASE("without descendants there is nothing to kill") {
    CHECK(tare::stopwatch::kill_descendants(limit) == 0);
}

}  // namespace
