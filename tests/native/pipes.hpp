// SPDX-License-Identifier: Apache-2.0
// Two connected descriptors, for tests of what moves bytes.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <utility>

#include "channel/frame.hpp"
#include "common/file_descriptor.hpp"

namespace tare::test {

struct Ends {
    FileDescriptor reader;
    FileDescriptor writer;
};

inline Ends make_pipe(int flags = O_CLOEXEC) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), flags) == 0);
    return {FileDescriptor{ends[0]}, FileDescriptor{ends[1]}};
}

/// Both ends nonblocking.
inline std::pair<FileDescriptor, FileDescriptor> make_sockets() {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) == 0);
    return {FileDescriptor{ends[0]}, FileDescriptor{ends[1]}};
}

/// While it lives, a write to a pipe that nobody reads fails, and does not kill.
class IgnoredSigpipe {
  public:
    IgnoredSigpipe() : before_{::signal(SIGPIPE, SIG_IGN)} {}
    IgnoredSigpipe(const IgnoredSigpipe&) = delete;
    IgnoredSigpipe& operator=(const IgnoredSigpipe&) = delete;
    IgnoredSigpipe(IgnoredSigpipe&&) = delete;
    IgnoredSigpipe& operator=(IgnoredSigpipe&&) = delete;
    ~IgnoredSigpipe() { static_cast<void>(::signal(SIGPIPE, before_)); }

  private:
    void (*before_)(int);
};

/// What can be read now; the descriptor must not block.
inline std::string read_now(const FileDescriptor& descriptor) {
    std::string text;
    std::array<char, 65536> buffer{};
    ssize_t count = 0;
    while ((count = ::read(descriptor.number(), buffer.data(), buffer.size())) > 0) {
        text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return text;
}

/// Whether the descriptor is at its end.
inline bool at_end(const FileDescriptor& descriptor) {
    char byte = 0;
    return ::read(descriptor.number(), &byte, 1) == 0;
}

}  // namespace tare::test
