// SPDX-License-Identifier: Apache-2.0
#include "stopwatch/session.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>

#include "common/exec.hpp"
#include "common/json.hpp"
#include "common/number.hpp"
#include "common/system.hpp"
#include "stopwatch/clocks.hpp"
#include "stopwatch/facts.hpp"
#include "stopwatch/quality.hpp"
#include "stopwatch/signals.hpp"
#include "stopwatch/turns.hpp"

namespace tare::stopwatch {

namespace {

constexpr std::chrono::seconds write_limit{10};
constexpr std::size_t longest_line = 4096;
constexpr std::size_t most_next_byte = std::size_t{4} * 1024 * 1024;  // more than execve(2) takes
constexpr int signal_exit_offset = 128;

/// How long ppoll(2) is to wait for a moment.
timespec time_until(std::int64_t moment_ns) {
    constexpr std::int64_t nanoseconds_per_second = 1'000'000'000;
    const std::int64_t left_ns = std::max<std::int64_t>(moment_ns - monotonic_raw_ns(), 0);
    return {.tv_sec = left_ns / nanoseconds_per_second, .tv_nsec = left_ns % nanoseconds_per_second};
}

}  // namespace

Session::Session(Command& command) : command_{command}, signals_{take_signals()} {
    // Where the command is the same user, it could write its own time into this memory (ptrace(2),
    // pidfd_getfd(2)). PRoot refuses by ENOSYS, as no kernel does: it reads the memory of all that it runs.
    if (::prctl(PR_SET_DUMPABLE, 0) != 0 && errno != ENOSYS) {
        throw_errno("cannot keep the command from this program's memory");
    }
    if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
        throw_errno("cannot adopt the command's orphans");
    }
}

int Session::run() {
    send("READY", ' ' + node_facts(command_.restrictions()));
    while (!exit_code_ || command_.running()) {
        wait_for_event();
        report_if_ended();
    }
    return *exit_code_;
}

void Session::wait_for_event() {
    constexpr short any_end = POLLIN | POLLHUP | POLLERR | POLLNVAL;
    Turns* const turns = command_.turns();
    std::array<pollfd, 3> waited{{
        {.fd = signals_.number(), .events = POLLIN, .revents = 0},
        {.fd = input_open_ ? STDIN_FILENO : -1, .events = POLLIN, .revents = 0},
        {.fd = turns != nullptr ? turns->number() : -1, .events = POLLIN, .revents = 0},
    }};
    const auto next_ns = start_at_ns_ ? start_at_ns_ : command_.deadline_ns();
    const timespec left = time_until(next_ns.value_or(0));
    const int ready = ::ppoll(waited.data(), waited.size(), next_ns ? &left : nullptr, nullptr);
    const std::int64_t now_ns = monotonic_raw_ns();
    if (ready > 0 && waited[2].revents != 0) {
        receive_answer();
    }
    if (ready > 0 && waited[0].revents != 0) {
        handle_signals(now_ns);
    }
    command_.keep_time(now_ns);
    if (ready > 0 && (waited[1].revents & any_end) != 0) {
        handle_input();
    }
    start_if_due();
}

void Session::handle_signals(std::int64_t now_ns) {
    std::optional<int> ending_signal;
    signalfd_siginfo received{};
    while (::read(signals_.number(), &received, sizeof received) == sizeof received) {
        const auto number = static_cast<int>(received.ssi_signo);
        ending_signal = number == SIGCHLD ? ending_signal : number;
    }
    // Only now: of a death that is told while the signals are still read, nothing would be heard again.
    command_.reap(now_ns);
    if (ending_signal) {
        finish(signal_exit_offset + *ending_signal);
    }
}

void Session::handle_input() {
    std::array<char, longest_line> buffer{};
    const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) {
        return;
    }
    if (count <= 0) {
        finish(0);
        return;
    }
    input_.append(buffer.data(), static_cast<std::size_t>(count));
    while (input_open_ && take_input()) {
    }
    if (input_open_ && next_byte_ == 0 && input_.size() > longest_line) {
        refuse("a line is longer than " + std::to_string(longest_line) + " byte");
    }
}

/// Handles what is there as a whole; false when that is nothing yet.
bool Session::take_input() {
    if (next_byte_ > 0) {
        if (input_.size() < next_byte_) {
            return false;
        }
        next_ = input_.substr(0, next_byte_);
        finish(0);
        return true;
    }
    const std::size_t end = input_.find('\n');
    if (end == std::string::npos) {
        return false;
    }
    const std::string line = input_.substr(0, end);
    input_.erase(0, end + 1);
    handle_line(line);
    return true;
}

void Session::expect_next(std::string_view size) {
    const auto byte = parse_number<std::size_t>(size);
    if (!byte || *byte == 0 || *byte > most_next_byte || command_.running() || start_at_ns_) {
        refuse("NEXT needs a size, and a command that has ended");
        return;
    }
    next_byte_ = *byte;
}

std::vector<std::string> Session::next() const {
    std::vector<std::string> words;
    for (std::size_t begin = 0; begin < next_.size();) {
        const std::size_t end = std::min(next_.find('\0', begin), next_.size());
        words.push_back(next_.substr(begin, end - begin));
        begin = end + 1;
    }
    return words;
}

void Session::handle_line(std::string_view line) {
    struct Word {
        std::string_view name;
        void (*act)(Session&);
    };
    static constexpr std::array<Word, 7> words{{
        {"PING", [](Session& self) { self.send("PONG", ' ' + std::to_string(monotonic_raw_ns())); }},
        {"CLOCKS", [](Session& self) { self.send("CLOCKS", ' ' + clock_readings()); }},
        {"STEAL", [](Session& self) { self.send("STEAL", ' ' + stolen_time()); }},
        {"QUALITY", [](Session& self) { self.send("QUALITY", ' ' + clock_quality()); }},
        {"GO", [](Session& self) { self.start_at(monotonic_raw_ns()); }},
        {"END", [](Session& self) { self.end_turns(); }},
        {"QUIT", [](Session& self) { self.finish(0); }},
    }};
    constexpr std::string_view turn = "TURN ";
    constexpr std::string_view next = "NEXT ";
    constexpr std::string_view start = "GO ";
    const auto* const known =
        std::find_if(words.begin(), words.end(), [line](const Word& word) { return word.name == line; });
    if (known != words.end()) {
        known->act(*this);
    } else if (line.starts_with(turn)) {
        give_turn(line.substr(turn.size()));
    } else if (line.starts_with(next)) {
        expect_next(line.substr(next.size()));
    } else if (line.starts_with(start)) {
        start_at(parse_number<std::int64_t>(line.substr(start.size())));
    } else {
        refuse("'" + std::string{line} +
               "' is not one of PING, CLOCKS, STEAL, QUALITY, GO, GO nanoseconds, TURN text, END, NEXT size "
               "and QUIT");
    }
}

void Session::start_at(std::optional<std::int64_t> moment_ns) {
    if (started_ || start_at_ns_) {
        refuse("GO was given before; one stopwatch measures one command");
        return;
    }
    if (!moment_ns) {
        refuse("GO needs a whole number of nanoseconds, or nothing");
        return;
    }
    start_at_ns_ = moment_ns;
    start_if_due();
}

void Session::start_if_due() {
    if (!start_at_ns_ || !input_open_ || monotonic_raw_ns() < *start_at_ns_) {
        return;
    }
    start_at_ns_.reset();
    started_ = true;
    command_.start();
    report_if_ended();
}

void Session::give_turn(std::string_view text) {
    if (command_.turns() == nullptr || !command_.running()) {
        refuse("TURN needs a command that was started with --turns yes and runs");
        return;
    }
    try {
        command_.turns()->give(text);
    } catch (const WrongTurn& error) {
        refuse(error.what());
    }
}

void Session::receive_answer() {
    try {
        if (const auto answer = command_.turns()->receive()) {
            send("TOOK", ' ' + answer->report());
        }
    } catch (const WrongTurn& error) {
        refuse(error.what());
    }
}

void Session::end_turns() {
    if (command_.turns() == nullptr || !started_) {
        refuse("END needs a command that was started with --turns yes");
        return;
    }
    command_.turns()->close();
}

void Session::report_if_ended() {
    if (!command_.ended() || reported_) {
        return;
    }
    reported_ = true;
    if (command_.turns() != nullptr) {
        receive_answer();  // its last words
    }
    send("DONE", ' ' + command_.report());
}

void Session::refuse(const std::string& message) {
    if (!input_open_) {
        return;  // the session ends already
    }
    send("ERROR", ' ' + JsonObject{}.add("message", message).text());
    finish(exit_wrong_use);
}

void Session::finish(int exit_code) {
    input_open_ = false;
    exit_code_ = exit_code_.value_or(exit_code);
    command_.terminate();
}

void Session::send(std::string_view word, const std::string& rest) {
    if (output_open_ && !write_all(STDOUT_FILENO, std::string{word} + rest + '\n', write_limit)) {
        output_open_ = false;
        finish(0);
    }
}

}  // namespace tare::stopwatch
