// SPDX-License-Identifier: Apache-2.0
#include "keeper/unix_socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "common/system.hpp"

namespace tare::keeper {

namespace {

using Control = std::array<char, CMSG_SPACE(standard_files * sizeof(int))>;

/// Where a socket lies. A path has room for 107 bytes: a longer one goes through its folder's descriptor.
class Address {
  public:
    explicit Address(const std::string& path) {
        std::string place = path;
        if (place.size() >= sizeof address_.sun_path) {
            const std::filesystem::path whole{path};
            folder_ = FileDescriptor{::open(whole.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
            place = "/proc/self/fd/" + std::to_string(folder_.number()) + '/' + whole.filename().string();
        }
        if (place.size() >= sizeof address_.sun_path) {
            errno = ENAMETOOLONG;
            throw_errno("cannot use '" + path + "' as a socket");
        }
        address_.sun_family = AF_UNIX;
        place.copy(&address_.sun_path[0], place.size());
    }

    [[nodiscard]] const sockaddr* get() const {
        const void* const place = &address_;
        return static_cast<const sockaddr*>(place);
    }
    static constexpr socklen_t size = sizeof(sockaddr_un);

  private:
    sockaddr_un address_{};
    FileDescriptor folder_;
};

void attach_files(msghdr& message, Control& control, std::span<const int> files) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(files.size_bytes());
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(files.size_bytes());
    std::memcpy(CMSG_DATA(header), files.data(), files.size_bytes());
}

std::vector<FileDescriptor> files_of(msghdr& message) {
    std::vector<FileDescriptor> files;
    const cmsghdr* const header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) {
        return files;
    }
    std::array<int, standard_files> numbers{};
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    std::memcpy(numbers.data(), CMSG_DATA(header), count * sizeof(int));
    for (const int number : std::span{numbers}.first(count)) {
        files.emplace_back(number);
    }
    return files;
}

/// The kernel takes no message that is longer than the sender's buffer; by default that is below the longest
/// command.
void enlarge_buffer(int connection, std::size_t size) {
    const int byte = static_cast<int>(size);
    static_cast<void>(::setsockopt(connection, SOL_SOCKET, SO_SNDBUF, &byte, sizeof byte));
}

/// 0 at the end of the connection, less while nothing is there.
ssize_t size_of_next(int connection) {
    constexpr int look_only = MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT;
    char none = 0;
    ssize_t size = ::recv(connection, &none, 0, look_only);
    if (size < 0 && errno == ECONNRESET) {  // told once, before an answer that still lies there
        size = ::recv(connection, &none, 0, look_only);
    }
    const bool later = size < 0 && (errno == EAGAIN || errno == EINTR);
    return size < 0 && !later ? 0 : size;
}

FileDescriptor make_socket(int type) {
    FileDescriptor made{::socket(AF_UNIX, type | SOCK_CLOEXEC, 0)};
    if (!made) {
        throw_errno("cannot make a socket");
    }
    return made;
}

}  // namespace

FileDescriptor listen_at(const std::string& path) {
    FileDescriptor listening = make_socket(SOCK_SEQPACKET | SOCK_NONBLOCK);
    const Address address{path};
    // Before it is bound, so that there is no moment in which others may connect.
    const bool done = ::fchmod(listening.number(), S_IRUSR | S_IWUSR) == 0 &&
                      ::bind(listening.number(), address.get(), Address::size) == 0 &&
                      ::listen(listening.number(), SOMAXCONN) == 0;
    if (!done) {
        throw_errno("cannot listen at '" + path + "'");
    }
    return listening;
}

FileDescriptor connect_to(const std::string& path, int type) {
    FileDescriptor connection = make_socket(type);
    const Address address{path};
    if (::connect(connection.number(), address.get(), Address::size) != 0) {
        throw_errno("cannot connect to '" + path + "'");
    }
    return connection;
}

bool send_message(int connection, std::string_view bytes, std::span<const int> files) {
    constexpr std::size_t default_suffices = std::size_t{64} << 10U;
    if (bytes.size() > default_suffices) {
        enlarge_buffer(connection, channel::largest_payload);
    }
    std::string copy{bytes};
    iovec part{.iov_base = copy.data(), .iov_len = copy.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    alignas(cmsghdr) Control control{};
    if (!files.empty()) {
        attach_files(message, control, files);
    }
    return ::sendmsg(connection, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

std::optional<Message> receive_message(int connection) {
    const auto size = size_of_next(connection);
    if (size < 0) {
        return std::nullopt;
    }
    Message received;
    received.bytes.resize(std::min(static_cast<std::size_t>(size), channel::largest_payload));
    iovec part{.iov_base = received.bytes.data(), .iov_len = received.bytes.size()};
    alignas(cmsghdr) Control control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    if (size == 0 || ::recvmsg(connection, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0) {
        return Message{};
    }
    received.files = files_of(message);
    received.whole = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
    return received;
}

}  // namespace tare::keeper
