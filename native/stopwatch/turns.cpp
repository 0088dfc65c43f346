// SPDX-License-Identifier: Apache-2.0
#include "stopwatch/turns.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <tuple>

#include "common/json.hpp"
#include "common/system.hpp"

namespace tare::stopwatch {

namespace {

/// No less than a pipe holds (pipe(7)), so that a single read takes all that is there.
constexpr std::size_t read_byte = std::size_t{64} << 10U;

constexpr const char* more_than_a_line =
    "the command printed more than a line to a turn, so whose time is whose is unknown; have it print all "
    "but "
    "its answers to standard error";

std::pair<FileDescriptor, FileDescriptor> make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw_errno("cannot make a pipe to the command");
    }
    return {FileDescriptor{ends[0]}, FileDescriptor{ends[1]}};
}

/// Of this end alone: the command's blocks.
void stop_blocking(const FileDescriptor& end) {
    const int flags = ::fcntl(end.number(), F_GETFL);
    if (flags < 0 || ::fcntl(end.number(), F_SETFL, flags | O_NONBLOCK) != 0) {
        throw_errno("cannot make a pipe to the command nonblocking");
    }
}

}  // namespace

std::string Answer::report() const {
    return JsonObject{}
        .add("wall_ns", end_ns - begin_ns)
        .add("begin_ns", begin_ns)
        .add("end_ns", end_ns)
        .add("line", line)
        .text();
}

Turns::Turns(FileDescriptor file, std::optional<std::uint64_t> file_limit_byte)
    : file_{std::move(file)}, file_left_byte_{file_limit_byte} {
    std::tie(command_input_, input_) = make_pipe();
    std::tie(output_, command_output_) = make_pipe();
    stop_blocking(input_);
    stop_blocking(output_);
}

void Turns::give(std::string_view text) {
    if (begin_ns_) {
        throw WrongTurn("TURN was said while a turn is under way");
    }
    if (!input_) {
        throw WrongTurn("TURN was said after END");
    }
    read_some();
    const std::string line = std::string{text} + '\n';
    if (line.size() > PIPE_BUF) {
        throw WrongTurn("a turn is longer than " + std::to_string(PIPE_BUF) + " byte");
    }
    begin_ns_ = monotonic_raw_ns();
    // Up to PIPE_BUF bytes are written whole or not at all (pipe(7)). A command that has closed its input
    // will end or run into its limit.
    if (::write(input_.number(), line.data(), line.size()) < 0 && errno == EAGAIN) {
        throw WrongTurn("the command does not read its turns");
    }
}

std::optional<Answer> Turns::receive() {
    read_some();
    return whole_answer();
}

void Turns::read_some() {
    if (!output_) {
        return;
    }
    std::array<char, read_byte> buffer;  // NOLINT(*-member-init): read fills what is used
    const ssize_t count = ::read(output_.number(), buffer.data(), buffer.size());
    read_ns_ = monotonic_raw_ns();
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (count <= 0) {
        output_ = FileDescriptor{};
        return;
    }
    const std::string_view printed{buffer.data(), static_cast<std::size_t>(count)};
    pass_on(printed);
    if (begin_ns_) {
        received_.append(printed);
    } else if (answered_ && input_) {
        throw WrongTurn{more_than_a_line};
    }
}

void Turns::pass_on(std::string_view printed) {
    if (file_left_byte_ && printed.size() > *file_left_byte_) {
        throw WrongTurn("the command printed more than its output file may hold");
    }
    if (file_left_byte_) {
        *file_left_byte_ -= printed.size();
    }
    while (!printed.empty()) {
        const ssize_t written = ::write(file_.number(), printed.data(), printed.size());
        if (written < 0 && errno != EINTR) {
            throw WrongTurn("the command's output cannot be kept: " + error_text(errno));
        }
        printed.remove_prefix(static_cast<std::size_t>(written < 0 ? 0 : written));
    }
}

std::optional<Answer> Turns::whole_answer() {
    if (!begin_ns_) {
        return std::nullopt;
    }
    const auto end = received_.find('\n');
    if (std::min(end, received_.size()) > longest_answer) {
        throw WrongTurn("an answer is longer than " + std::to_string(longest_answer) + " byte");
    }
    if (end == std::string::npos) {
        return std::nullopt;
    }
    if (input_ && end + 1 < received_.size()) {
        throw WrongTurn{more_than_a_line};
    }
    answered_ = true;
    Answer answer{.begin_ns = *begin_ns_, .end_ns = read_ns_, .line = received_.substr(0, end)};
    begin_ns_.reset();
    received_.clear();
    return answer;
}

}  // namespace tare::stopwatch
