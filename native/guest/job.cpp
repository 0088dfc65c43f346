// SPDX-License-Identifier: Apache-2.0
#include "guest/job.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <utility>

namespace tare::guest {

using channel::Exit;
using channel::Flow;

namespace {

constexpr std::size_t input_place = 0;
constexpr std::size_t output_place = 1;
constexpr std::size_t error_output_place = 2;

pollfd wish(bool wanted, int descriptor, short events) {
    return {.fd = wanted ? descriptor : -1, .events = events, .revents = 0};
}

/// What the child said when it could not execute its command; nothing if it could.
std::optional<Exit> failure_in(const FileDescriptor& pipe) {
    std::array<char, PIPE_BUF> text{};
    const ssize_t count = ::read(pipe.number(), text.data(), text.size());
    return count > 0 ? std::optional{channel::decode_exit({text.data(), static_cast<std::size_t>(count)})}
                     : std::nullopt;
}

bool read_if(channel::Source& source, const pollfd& polled, channel::Line& line) {
    if (polled.revents == 0 || !source.wants_to_read(line)) {
        return false;
    }
    source.read_some(line);
    return true;
}

}  // namespace

Job::Job(std::uint32_t stream, Process process)
    : process_{std::move(process)},
      input_{std::move(process_.input), {.stream = stream, .flow = Flow::input}},
      output_{std::move(process_.output), {.stream = stream, .flow = Flow::output}},
      error_output_{std::move(process_.error_output), {.stream = stream, .flow = Flow::error_output}} {}

std::array<pollfd, Job::descriptors> Job::wishes(const channel::Line& line) const {
    const bool flows = !abandoned_;
    return {wish(flows && input_.wants_to_write(), input_.number(), POLLOUT),
            wish(flows && output_.wants_to_read(line), output_.number(), POLLIN),
            wish(flows && error_output_.wants_to_read(line), error_output_.number(), POLLIN)};
}

bool Job::move(std::span<const pollfd, descriptors> polled, channel::Line& line) {
    if (polled[input_place].revents != 0) {
        input_.write_some(line);
    }
    const bool output = read_if(output_, polled[output_place], line);
    const bool error_output = read_if(error_output_, polled[error_output_place], line);
    return output || error_output;
}

void Job::take_input(std::string_view bytes, channel::Line& line) {
    if (!abandoned_) {
        input_.take(bytes, line);
    }
}

void Job::end_input() {
    if (!abandoned_) {
        input_.end();
    }
}

void Job::add_credit(const channel::Credit& credit) {
    if (credit.flow == Flow::input) {
        throw channel::ProtocolError("credit came for a flow of the other direction");
    }
    (credit.flow == Flow::output ? output_ : error_output_).add_credit(credit.count);
}

void Job::abandon() {
    abandoned_ = true;
    if (!running()) {
        close_outputs();
    }
}

void Job::close_outputs() {
    output_.close();
    error_output_.close();
}

void Job::ended(int status, channel::Line& line) {
    status_ = status;
    input_.close();
    if (abandoned_) {
        close_outputs();
    } else {
        output_.end_behind_what_is_there(line);
        error_output_.end_behind_what_is_there(line);
    }
}

Exit Job::exit() const {
    if (auto failure = failure_in(process_.failure)) {
        return *std::move(failure);
    }
    const int status = status_.value_or(0);
    return WIFSIGNALED(status) ? Exit{.how = Exit::How::signal, .number = WTERMSIG(status), .text = {}}
                               : Exit{.how = Exit::How::code, .number = WEXITSTATUS(status), .text = {}};
}

}  // namespace tare::guest
