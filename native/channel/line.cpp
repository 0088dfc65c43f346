// SPDX-License-Identifier: Apache-2.0
#include "channel/line.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <span>
#include <utility>

#include "common/system.hpp"

namespace tare::channel {

namespace {

constexpr std::size_t read_size = std::size_t{64} << 10U;

void stop_blocking(int descriptor) {
    const int flags = ::fcntl(descriptor, F_GETFL);
    if (flags < 0 || ::fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) != 0) {
        throw_errno("cannot make the channel nonblocking");
    }
}

}  // namespace

Line::Line(FileDescriptor descriptor, Decoder decoder)
    : descriptor_{std::move(descriptor)}, decoder_{std::move(decoder)} {
    stop_blocking(descriptor_.number());
}

Received Line::read_some() {
    std::array<char, read_size> buffer;  // NOLINT(*-member-init): read fills what is used
    const ssize_t count = ::read(descriptor_.number(), buffer.data(), buffer.size());
    if (count < 0 && would_wait()) {
        return {};
    }
    if (count <= 0) {  // a hung-up terminal says EIO, a reset socket ECONNRESET
        closed_ = true;
        if (decoder_.torn()) {
            throw ProtocolError("the channel closed within a frame");
        }
        return {.frames = {}, .ended = true};
    }
    decoder_.push(std::span{buffer}.first(static_cast<std::size_t>(count)));
    Received received;
    while (auto frame = decoder_.next()) {
        received.frames.push_back(*std::move(frame));
    }
    return received;
}

void Line::send(const Frame& frame) {
    if (closed_) {
        return;
    }
    if (queued() + header_size + frame.payload.size() > most_queued) {
        throw ProtocolError("the other end of the channel does not read");
    }
    queue_.push(encode(frame));
}

void Line::slow_down() {
    slow_ = true;
    const int size = slow_chunk_size;  // the kernel doubles it, and takes no less than it can work with
    static_cast<void>(::setsockopt(number(), SOL_SOCKET, SO_SNDBUF, &size, sizeof size));
}

void Line::write_some() {
    while (wants_to_write()) {
        const auto bytes = queue_.view();
        const ssize_t count = ::write(descriptor_.number(), bytes.data(), bytes.size());
        if (count < 0 && !would_wait()) {  // the next read says that the line ended
            closed_ = true;
            queue_.clear();
        }
        if (count <= 0) {
            return;
        }
        queue_.pop(static_cast<std::size_t>(count));
    }
}

}  // namespace tare::channel
