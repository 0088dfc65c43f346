// SPDX-License-Identifier: Apache-2.0
#include "stopwatch/children.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>

#include "common/number.hpp"
#include "common/system.hpp"

namespace tare::stopwatch {

namespace {

namespace fs = std::filesystem;

std::vector<pid_t> listed_children(const std::string& text) {
    std::vector<pid_t> children;
    std::istringstream numbers{text};
    for (pid_t child = 0; numbers >> child;) {
        children.push_back(child);
    }
    return children;
}

/// The parent in a /proc/PID/stat line: the second field after the name, which may itself hold blanks and
/// brackets.
std::optional<pid_t> parent_in(const std::string& stat) {
    std::istringstream fields{stat.substr(std::min(stat.rfind(')'), stat.size() - 1) + 1)};
    char state = 0;
    pid_t parent = 0;
    return fields >> state >> parent ? std::optional{parent} : std::nullopt;
}

void wait_for_a_death(std::chrono::milliseconds limit) {
    sigset_t death;
    ::sigemptyset(&death);
    ::sigaddset(&death, SIGCHLD);
    const timespec time{.tv_sec = 0, .tv_nsec = std::chrono::nanoseconds{limit}.count()};
    ::sigtimedwait(&death, nullptr, &time);
}

struct Reaped {
    int killed = 0;
    bool any_left = false;
};

Reaped reap_dead() {
    Reaped reaped;
    int status = 0;
    pid_t child = 0;
    while ((child = ::waitpid(-1, &status, WNOHANG)) > 0) {
        reaped.killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 1 : 0;
    }
    reaped.any_left = child == 0;
    return reaped;
}

}  // namespace

std::vector<pid_t> searched_children() {
    std::vector<pid_t> children;
    std::error_code ended;
    for (fs::directory_iterator entry{"/proc", ended}, last; !ended && entry != last;
         entry.increment(ended)) {
        const auto process = parse_number<pid_t>(entry->path().filename().string());
        const auto stat = process ? read_text(entry->path() / "stat") : std::nullopt;
        if (stat && !stat->empty() && parent_in(*stat) == ::getpid()) {
            children.push_back(*process);
        }
    }
    return children;
}

std::vector<pid_t> own_children() {
    const auto process = std::to_string(::getpid());
    const auto text = read_text("/proc/self/task/" + process + "/children");
    return text ? listed_children(*text) : searched_children();
}

int kill_descendants(std::chrono::milliseconds limit) {
    constexpr std::chrono::milliseconds step{10};
    const auto last = std::chrono::steady_clock::now() + limit;
    int killed = 0;
    for (;;) {
        const Reaped reaped = reap_dead();
        killed += reaped.killed;
        if (!reaped.any_left || std::chrono::steady_clock::now() > last) {
            return killed;
        }
        // Only children are signalled: their numbers cannot be reused before they are reaped here. The
        // children of a killed one become ours, and their turn comes next.
        for (const pid_t child : own_children()) {
            ::kill(child, SIGKILL);
        }
        wait_for_a_death(step);
    }
}

}  // namespace tare::stopwatch
