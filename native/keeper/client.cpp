// SPDX-License-Identifier: Apache-2.0
#include "keeper/client.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "common/number.hpp"
#include "keeper/request.hpp"

namespace tare::keeper {

namespace {

using channel::Flow;
using channel::Frame;
using channel::Line;
using channel::ProtocolError;
using channel::Type;

constexpr std::size_t longest_text = 4096;  // of an answer: what a program prints in one line

pollfd poll_for(short events, bool wanted, int descriptor) {
    return {.fd = wanted ? descriptor : -1, .events = events, .revents = 0};
}

void take_output(channel::Sink& sink, const Frame& frame, Line& line) {
    if (frame.payload.empty()) {
        sink.end();
    } else {
        sink.take(frame.payload, line);
    }
}

}  // namespace

void Client::fill(std::span<pollfd, polled_files> polled, const Line& line) const {
    constexpr std::size_t outputs_at = 2;
    const short requests = line.has_room() ? POLLIN : 0;  // its leaving is told in any case
    polled[0] = {.fd = connection_.number(), .events = requests, .revents = 0};
    polled[1] =
        poll_for(POLLIN, flows_ && flows_->input.wants_to_read(line), flows_ ? flows_->input.number() : -1);
    for (std::size_t index = 0; index + outputs_at < polled_files; ++index) {
        const auto* const sink = flows_ ? &flows_->outputs.at(index) : nullptr;
        polled[outputs_at + index] = poll_for(POLLOUT, sink != nullptr && sink->wants_to_write(),
                                              sink != nullptr ? sink->number() : -1);
    }
}

void Client::serve(std::span<const pollfd, polled_files> polled, Line& line) {
    if (connection_ && polled[0].revents != 0) {
        serve_connection(polled[0].revents, line);
    }
    if (flows_ && polled[1].revents != 0) {
        flows_->input.read_some(line);
    }
    const auto outputs = polled.last<2>();
    for (std::size_t index = 0; flows_ && index < outputs.size(); ++index) {
        if (outputs[index].revents != 0) {
            flows_->outputs.at(index).write_some(line);
        }
    }
    answer_when_drained();
}

void Client::serve_connection(short events, Line& line) {
    if ((events & (POLLHUP | POLLERR | POLLNVAL)) != 0) {
        leave(line);
    } else if (line.has_room()) {
        if (auto message = receive_message(connection_.number())) {
            take_message(*std::move(message), line);
        }
    }
}

void Client::take_message(Message message, Line& line) {
    if (message.bytes.empty()) {
        leave(line);
    } else if (asked_) {
        pass_signal(message, line);
    } else if (!welcome_) {
        refuse(EAGAIN, "the guest runs " + std::to_string(channel::most_streams) + " commands already");
    } else if (const auto fault = fault_of(message); !fault.empty()) {
        refuse(EINVAL, fault);
    } else {
        begin(std::move(message), line);
    }
}

void Client::begin(Message message, Line& line) {
    const auto sink = [&](std::size_t index, Flow flow) {
        return channel::Sink{channel::without_blocking(std::move(message.files.at(index))),
                             {.stream = stream_, .flow = flow}};
    };
    flows_.emplace(Flows{.input = channel::Source::of_shared(std::move(message.files.at(0)),
                                                             {.stream = stream_, .flow = Flow::input}),
                         .outputs = {{sink(1, Flow::output), sink(2, Flow::error_output)}}});
    asked_ = true;
    line.send({.type = Type::execute, .stream = stream_, .payload = std::move(message.bytes)});
    // Goes in the same write, which spares the guest a wake-up: above all the end of an empty input.
    flows_->input.read_what_is_there(line);
}

void Client::pass_signal(const Message& message, Line& line) const {
    const auto number = parse_number<std::uint32_t>(message.bytes);
    if (!exit_ && number && *number > 0 && *number <= static_cast<std::uint32_t>(SIGRTMAX)) {
        line.send({.type = Type::signal, .stream = stream_, .payload = channel::encode_number(*number)});
    }
}

void Client::take(const Frame& frame, Line& line) {
    if (!flows_ || exit_) {
        throw ProtocolError("the guest speaks of a command that does not run");
    }
    switch (frame.type) {
        case Type::output:
            return take_output(flows_->outputs[0], frame, line);
        case Type::error_output:
            return take_output(flows_->outputs[1], frame, line);
        case Type::credit:
            return take_credit(frame);
        case Type::exit:
            return take_exit(frame);
        default:
            throw ProtocolError("the guest sent what only a host may send");
    }
}

void Client::take_credit(const Frame& frame) {
    const auto credit = channel::decode_credit(frame.payload);
    if (credit.flow != Flow::input) {
        throw ProtocolError("the guest gave credit for a flow of its own");
    }
    flows_->input.add_credit(credit.count);
}

void Client::take_exit(const Frame& frame) {
    exit_ = channel::decode_exit(frame.payload);
    flows_->input.close();
    for (auto& output : flows_->outputs) {
        output.end();
    }
    answer_when_drained();
}

void Client::leave(Line& line) {
    connection_ = FileDescriptor{};
    if (!asked_) {
        return;
    }
    if (!exit_) {
        line.send({.type = Type::hang_up, .stream = stream_, .payload = {}});
    }
    flows_->input.close();
    for (auto& output : flows_->outputs) {
        output.close();
    }
}

void Client::answer_when_drained() {
    const auto drained = [](const channel::Sink& sink) { return sink.ended(); };
    if (connection_ && exit_ && std::all_of(flows_->outputs.begin(), flows_->outputs.end(), drained)) {
        answer(*exit_);
    }
}

void Client::refuse(int number, const std::string& text) {
    if (connection_) {
        answer({.how = channel::Exit::How::failed, .number = number, .text = text});
    }
}

void Client::answer(const channel::Exit& exit) {
    auto shortened = exit;
    shortened.text.resize(std::min(shortened.text.size(), longest_text));
    // It may have gone in this moment; then nobody needs the answer.
    static_cast<void>(send_message(connection_.number(), channel::encode_exit(shortened)));
    connection_ = FileDescriptor{};
    flows_.reset();
}

std::optional<Clock::time_point> Client::request_deadline() const {
    return asked_ || !connection_ ? std::nullopt : std::optional{since_ + request_limit};
}

}  // namespace tare::keeper
