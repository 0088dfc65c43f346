// SPDX-License-Identifier: Apache-2.0
#include "channel/flow.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <string>

#include "common/system.hpp"

namespace tare::channel {

namespace {

/// Credit goes out in pieces of at least this size, so that many short writes do not cost a frame each. What
/// is left owed is less than the window by far, so no flow can stand still for it.
constexpr std::size_t credit_size = window_size / 8;

Type data_type(Flow flow) {
    if (flow == Flow::input) {
        return Type::input;
    }
    return flow == Flow::output ? Type::output : Type::error_output;
}

bool blocks(int descriptor) { return (::fcntl(descriptor, F_GETFL) & O_NONBLOCK) == 0; }

/// A pipe that polls writable takes PIPE_BUF bytes without blocking (pipe(7)), and perhaps no more.
ssize_t write_patiently(int descriptor, std::string_view bytes) {
    pollfd asked{.fd = descriptor, .events = POLLOUT, .revents = 0};
    if (::poll(&asked, 1, 0) != 1) {
        errno = EAGAIN;
        return -1;
    }
    return ::write(descriptor, bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF));
}

ssize_t write_now(int descriptor, std::string_view bytes) {
    const ssize_t sent = ::send(descriptor, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0 || errno != ENOTSOCK) {
        return sent;
    }
    return blocks(descriptor) ? write_patiently(descriptor, bytes)
                              : ::write(descriptor, bytes.data(), bytes.size());
}

bool is_of_kind(const FileDescriptor& file, mode_t kind) {
    struct stat found {};
    return ::fstat(file.number(), &found) == 0 && (found.st_mode & S_IFMT) == kind;
}

std::size_t readable_byte(int descriptor) {
    int count = 0;
    return ::ioctl(descriptor, FIONREAD, &count) == 0 ? static_cast<std::size_t>(std::max(count, 0)) : 0;
}

}  // namespace

FileDescriptor without_blocking(FileDescriptor given) {
    if (!is_of_kind(given, S_IFIFO) && !is_of_kind(given, S_IFCHR)) {
        return given;  // files never block for long, and sockets are told with each write
    }
    const std::string path = "/proc/self/fd/" + std::to_string(given.number());
    const int access = ::fcntl(given.number(), F_GETFL) & O_ACCMODE;
    FileDescriptor own{::open(path.c_str(), access | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
    return own ? std::move(own) : std::move(given);
}

Source Source::of_shared(FileDescriptor given, FlowName name) {
    FileDescriptor watched{is_of_kind(given, S_IFIFO) ? ::fcntl(given.number(), F_DUPFD_CLOEXEC, 0) : -1};
    Source source{without_blocking(std::move(given)), name};
    source.watched_ = std::move(watched);
    return source;
}

bool Source::wants_to_read(const Line& line) const {
    return static_cast<bool>(from_) && credit_ != 0 && line.has_room();
}

void Source::read_what_is_there(Line& line) {
    pollfd asked{.fd = number(), .events = POLLIN, .revents = 0};
    if (::poll(&asked, 1, 0) == 1) {
        read_some(line);
    }
}

void Source::read_some(Line& line) {
    if (!wants_to_read(line)) {
        return;
    }
    std::array<char, chunk_size> buffer;  // NOLINT(*-member-init): read fills what is used
    const ssize_t count = ::read(from_.number(), buffer.data(), std::min({line.chunk(), credit_, left_}));
    if (count < 0 && would_wait()) {
        return;
    }
    if (count <= 0) {  // a hung-up terminal says EIO
        send_end(line);
        return;
    }
    const auto size = static_cast<std::size_t>(count);
    credit_ -= size;
    left_ -= left_ == SIZE_MAX ? 0 : size;
    line.send(
        {.type = data_type(name_.flow), .stream = name_.stream, .payload = std::string(buffer.data(), size)});
    if (left_ == 0) {
        send_end(line);
    }
}

void Source::add_credit(std::uint32_t count) {
    if (count > window_size - credit_) {
        throw ProtocolError("a flow was given more credit than its window");
    }
    credit_ += count;
}

void Source::end_behind_what_is_there(Line& line) {
    if (!from_) {
        return;
    }
    left_ = readable_byte(from_.number());
    if (left_ == 0) {
        send_end(line);
    }
}

void Source::close() {
    from_ = FileDescriptor{};
    watched_ = FileDescriptor{};
}

void Source::send_end(Line& line) {
    close();
    const Type type = name_.flow == Flow::input ? Type::end_of_input : data_type(name_.flow);
    line.send({.type = type, .stream = name_.stream, .payload = {}});
}

void Sink::take(std::string_view bytes, Line& line) {
    if (ended_) {
        throw ProtocolError("bytes came after the end of their flow");
    }
    if (bytes.size() > window_size - owed_ - pending_.size()) {
        throw ProtocolError("more bytes came than the window allows");
    }
    pending_.push(bytes);
    write_some(line);
}

void Sink::write_some(Line& line) {
    while (into_ && !pending_.empty()) {
        const ssize_t count = write_now(into_.number(), pending_.view());
        if (count < 0 && would_wait()) {
            return;
        }
        if (count < 0) {
            reader_left_ = true;
            into_ = FileDescriptor{};
        } else {
            pass_on(static_cast<std::size_t>(count), line);
        }
    }
    if (!into_) {
        pass_on(pending_.size(), line);
    }
    close_if_ended();
}

void Sink::end() {
    ended_ = true;
    close_if_ended();
}

void Sink::close() {
    into_ = FileDescriptor{};
    owed_ += pending_.size();
    pending_.clear();
}

void Sink::pass_on(std::size_t count, Line& line) {
    pending_.pop(count);
    owed_ += count;
    if (owed_ >= credit_size) {
        const Credit credit{.flow = name_.flow, .count = static_cast<std::uint32_t>(owed_)};
        owed_ = 0;
        line.send({.type = Type::credit, .stream = name_.stream, .payload = encode_credit(credit)});
    }
}

void Sink::close_if_ended() {
    if (ended()) {
        into_ = FileDescriptor{};
    }
}

}  // namespace tare::channel
