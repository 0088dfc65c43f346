// SPDX-License-Identifier: Apache-2.0
#include "stopwatch/command.hpp"

#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <exception>

#include "common/json.hpp"
#include "common/system.hpp"
#include "stopwatch/children.hpp"

namespace tare::stopwatch {

namespace {

/// How long the kernel may take to remove what was sent SIGKILL.
constexpr Seconds kill_limit{10.0};

std::int64_t in_ns(Seconds seconds) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(seconds).count();
}

double as_s(const timeval& time) {
    constexpr double microsecond_per_second = 1e6;
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / microsecond_per_second;
}

template <typename Field>
std::optional<long> usage_field(const std::optional<rusage>& usage, Field field) {
    return usage ? std::optional{(*usage).*field} : std::nullopt;
}

std::optional<int> exit_code(std::optional<int> status) {
    return status && WIFEXITED(*status) ? std::optional{WEXITSTATUS(*status)} : std::nullopt;
}

std::optional<int> ending_signal(std::optional<int> status) {
    return status && WIFSIGNALED(*status) ? std::optional{WTERMSIG(*status)} : std::nullopt;
}

/// A dead child that stays to be reaped; false when there is none.
bool next_dead(siginfo_t& dead) {
    dead = {};
    return ::waitid(P_ALL, 0, &dead, WEXITED | WNOHANG | WNOWAIT) == 0 && dead.si_pid != 0;
}

}  // namespace

void Command::start() {
    phase_ = Phase::running;
    start_ns_ = monotonic_raw_ns();
    try {
        process_ = launch_.start();
        executed_ns_ = monotonic_raw_ns();
    } catch (const std::exception& error) {
        error_ = error.what();
        end(monotonic_raw_ns());
        return;
    }
    if (limit_) {
        deadline_ns_ = start_ns_ + in_ns(*limit_);
    }
}

void Command::terminate() {
    if (phase_ != Phase::running) {
        return;
    }
    phase_ = Phase::terminating;
    ::kill(-process_, SIGTERM);
    // A stopped process would keep SIGTERM pending for ever.
    ::kill(-process_, SIGCONT);
    deadline_ns_ = monotonic_raw_ns() + in_ns(grace_);
}

void Command::reap(std::int64_t now_ns) {
    for (siginfo_t dead{}; next_dead(dead);) {
        if (dead.si_pid == process_) {
            collect();
            end(now_ns);
            return;
        }
        const bool killed_here = phase_ == Phase::killing && dead.si_status == SIGKILL;
        leftover_processes_ += killed_here && dead.si_code == CLD_KILLED ? 1 : 0;
        ::waitpid(dead.si_pid, nullptr, 0);
    }
}

void Command::collect() {
    // While the dead command is not reaped, its number, and so that of its group, belongs to nobody else.
    ::kill(-process_, SIGKILL);
    int status = 0;
    rusage usage{};
    if (::wait4(process_, &status, 0, &usage) == process_) {
        wait_status_ = status;
        usage_ = usage;
    }
}

void Command::keep_time(std::int64_t now_ns) {
    if (!deadline_ns_ || now_ns < *deadline_ns_) {
        return;
    }
    if (phase_ == Phase::running) {
        timed_out_ = true;
        terminate();
    } else if (phase_ == Phase::terminating) {
        kill_group();
    } else {
        give_up(now_ns);
    }
}

void Command::kill_group() {
    phase_ = Phase::killing;
    ::kill(-process_, SIGKILL);
    deadline_ns_ = monotonic_raw_ns() + in_ns(kill_limit);
}

void Command::give_up(std::int64_t now_ns) {
    error_ = "the command did not die within 10 s of SIGKILL";
    end(now_ns);
}

void Command::end(std::int64_t now_ns) {
    end_ns_ = now_ns;
    phase_ = Phase::ended;
    deadline_ns_.reset();
    leftover_processes_ +=
        kill_descendants(std::chrono::duration_cast<std::chrono::milliseconds>(kill_limit));
}

std::string Command::report() const {
    constexpr double nanosecond_per_second = 1e9;
    constexpr long kibibyte = 1024;
    auto maximum_rss_byte = usage_field(usage_, &rusage::ru_maxrss);
    if (maximum_rss_byte) {
        *maximum_rss_byte *= kibibyte;
    }
    return JsonObject{}
        .add("start_ns", start_ns_)
        .add("executed_ns", executed_ns_)
        .add("end_ns", end_ns_)
        .add("wall_s", static_cast<double>(end_ns_ - start_ns_) / nanosecond_per_second)
        .add("user_s", usage_ ? std::optional{as_s(usage_->ru_utime)} : std::nullopt)
        .add("system_s", usage_ ? std::optional{as_s(usage_->ru_stime)} : std::nullopt)
        .add("maximum_rss_byte", maximum_rss_byte)
        .add("minor_faults", usage_field(usage_, &rusage::ru_minflt))
        .add("major_faults", usage_field(usage_, &rusage::ru_majflt))
        .add("voluntary_switches", usage_field(usage_, &rusage::ru_nvcsw))
        .add("involuntary_switches", usage_field(usage_, &rusage::ru_nivcsw))
        .add("exit_code", exit_code(wait_status_))
        .add("signal", ending_signal(wait_status_))
        .add("timed_out", timed_out_)
        .add("error", error_)
        .add("leftover_processes", leftover_processes_)
        .text();
}

}  // namespace tare::stopwatch
