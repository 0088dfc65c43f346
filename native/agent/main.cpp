// SPDX-License-Identifier: Apache-2.0
// What mpirun takes for rsh: agent NODE WORD... asks Tare, over a Unix socket, to run the words in a node.
//
// The three standard files travel with the request (SCM_RIGHTS, unix(7)), so that not a byte passes through
// here. The answer is the command's exit code. Whoever ends this program, or its socket's other end, ends the
// command.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/exec.hpp"
#include "common/file_descriptor.hpp"
#include "common/json.hpp"
#include "common/number.hpp"
#include "common/system.hpp"

namespace {

constexpr std::string_view program = "agent";
constexpr const char* socket_variable = "TARE_AGENT";
constexpr std::size_t longest_answer = 16;
constexpr std::array standard_files{STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};

tare::FileDescriptor connect_to(std::string_view path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) {
        throw std::invalid_argument("the socket's path is too long: '" + std::string{path} + "'");
    }
    path.copy(&address.sun_path[0], path.size());
    tare::FileDescriptor connection{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
    const void* const place = &address;
    if (!connection ||
        ::connect(connection.number(), static_cast<const sockaddr*>(place), sizeof address) != 0) {
        tare::throw_errno("cannot reach Tare at '" + std::string{path} + "'");
    }
    return connection;
}

/// One message: the request as JSON, and the standard files beside it.
void send_request(const tare::FileDescriptor& connection, std::string request) {
    iovec text{.iov_base = request.data(), .iov_len = request.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof standard_files)> control{};
    msghdr message{};
    message.msg_iov = &text;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof standard_files);
    std::memcpy(CMSG_DATA(header), standard_files.data(), sizeof standard_files);
    if (::sendmsg(connection.number(), &message, MSG_NOSIGNAL) < 0) {
        tare::throw_errno("cannot ask Tare to run the command");
    }
}

/// The command's exit code; nothing when the other end closed without a word.
std::optional<int> receive_exit_code(const tare::FileDescriptor& connection) {
    std::array<char, longest_answer> answer{};
    ssize_t count = 0;
    do {
        count = ::recv(connection.number(), answer.data(), answer.size(), 0);
    } while (count < 0 && errno == EINTR);
    if (count <= 0) {
        return std::nullopt;
    }
    return tare::parse_number<int>(std::string_view{answer.data(), static_cast<std::size_t>(count)});
}

std::string request_of(std::span<char* const> arguments) {
    std::string command;
    for (const char* const word : arguments.subspan(1)) {
        command += (command.empty() ? "" : " ") + std::string{word};
    }
    return tare::JsonObject{}.add("node", arguments.front()).add("command", command).text();
}

}  // namespace

int main(int argc, char** argv) {
    const auto arguments = std::span<char* const>{argv, static_cast<std::size_t>(argc)}.subspan(1);
    const char* const path = std::getenv(socket_variable);
    if (arguments.size() < 2 || path == nullptr) {
        tare::complain(program, "write: TARE_AGENT=SOCKET agent NODE WORD...");
        return tare::exit_wrong_use;
    }
    try {
        const auto connection = connect_to(path);
        send_request(connection, request_of(arguments));
        if (const auto code = receive_exit_code(connection)) {
            return *code;
        }
        tare::complain(program, "Tare did not run the command");
    } catch (const std::exception& error) {
        tare::complain(program, error.what());
    }
    return tare::exit_cannot_prepare;
}
