// SPDX-License-Identifier: Apache-2.0
#include "common/system.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <ctime>
#include <system_error>

#include "common/file_descriptor.hpp"

namespace tare {

namespace {

constexpr std::int64_t nanoseconds_per_second = 1'000'000'000;
constexpr std::chrono::seconds complaint_limit{1};

bool wait_writable(int descriptor, std::chrono::milliseconds limit) {
    pollfd waited{.fd = descriptor, .events = POLLOUT, .revents = 0};
    return ::poll(&waited, 1, static_cast<int>(limit.count())) == 1;
}

}  // namespace

std::string error_text(int error_number) { return std::generic_category().message(error_number); }

void throw_errno(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

bool would_wait() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

std::int64_t monotonic_raw_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return now.tv_sec * nanoseconds_per_second + now.tv_nsec;
}

bool write_all(int descriptor, std::string_view text, std::chrono::milliseconds limit) {
    while (!text.empty()) {
        if (!wait_writable(descriptor, limit)) {
            return false;
        }
        // A pipe that polls writable takes PIPE_BUF bytes without blocking (pipe(7)), and perhaps no more.
        const auto part = text.substr(0, PIPE_BUF);
        const ssize_t written = ::write(descriptor, part.data(), part.size());
        if (written < 0 && errno != EINTR) {
            return false;
        }
        text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
    }
    return true;
}

void complain(std::string_view program, std::string_view message) {
    const std::string line = std::string{program} + ": " + std::string{message} + '\n';
    static_cast<void>(write_all(STDERR_FILENO, line, complaint_limit));
}

std::optional<std::string> read_text(const std::filesystem::path& path) {
    const FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!file) {
        return std::nullopt;
    }
    std::string text;
    constexpr std::size_t page_byte = 4096;
    std::array<char, page_byte> buffer{};
    ssize_t count = 0;
    while ((count = ::read(file.number(), buffer.data(), buffer.size())) > 0) {
        text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return count == 0 ? std::optional{text} : std::nullopt;
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blank = " \t\r\n";
    const auto first = text.find_first_not_of(blank);
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

}  // namespace tare
