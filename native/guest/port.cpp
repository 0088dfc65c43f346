// SPDX-License-Identifier: Apache-2.0
#include "guest/port.hpp"

#include <fcntl.h>
#include <poll.h>
#include <termios.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>

#include "common/system.hpp"
#include "guest/waiting.hpp"

namespace tare::guest {

namespace {

namespace fs = std::filesystem;

FileDescriptor open_device(const std::string& path) {
    FileDescriptor device{::open(path.c_str(), O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
    if (!device) {
        throw_errno("cannot open the channel's device '" + path + "'");
    }
    return device;
}

/// The device node of the port that the host called `name`. Links by name in /dev would need udev.
std::optional<std::string> find_port(const std::string& name) {
    std::error_code none;
    for (fs::directory_iterator entry{"/sys/class/virtio-ports", none}, last; !none && entry != last;
         entry.increment(none)) {
        const std::string found{trimmed(read_text(entry->path() / "name").value_or(""))};
        const fs::path node = "/dev" / entry->path().filename();
        if (found == name && fs::exists(node)) {
            return node.string();
        }
    }
    return std::nullopt;
}

/// Every byte as it is, and no modem to wait for (termios(3)).
void make_raw(const FileDescriptor& terminal, const std::string& path) {
    termios settings{};
    if (::tcgetattr(terminal.number(), &settings) != 0) {
        throw_errno("'" + path + "' is no serial device");
    }
    ::cfmakeraw(&settings);
    settings.c_cflag |= CLOCAL | CREAD;
    settings.c_cc[VMIN] = 1;
    settings.c_cc[VTIME] = 0;
    ::cfsetspeed(&settings, B115200);
    if (::tcsetattr(terminal.number(), TCSANOW, &settings) != 0) {
        throw_errno("cannot make '" + path + "' a raw line");
    }
    ::tcflush(terminal.number(), TCIFLUSH);
}

FileDescriptor open_device_of(const VirtioPort& port) {
    return open_device(wait_for("the virtio port '" + port.name + "'", [&] { return find_port(port.name); }));
}

FileDescriptor open_device_of(const SerialDevice& serial) {
    FileDescriptor device = open_device(serial.path);
    make_raw(device, serial.path);
    return device;
}

void await_host(const FileDescriptor& channel) {
    constexpr std::chrono::milliseconds step{5};
    for (;;) {
        pollfd asked{.fd = channel.number(), .events = 0, .revents = 0};
        if (::poll(&asked, 1, 0) >= 0 && (asked.revents & POLLHUP) == 0) {
            return;
        }
        // A virtio port whose other end is closed reports nothing but that.
        std::this_thread::sleep_for(step);
    }
}

}  // namespace

channel::Line open_line(const Channel& channel) {
    FileDescriptor device = std::visit([](const auto& kind) { return open_device_of(kind); }, channel);
    await_host(device);
    channel::Line line{std::move(device)};
    if (std::holds_alternative<SerialDevice>(channel)) {
        line.slow_down();
    }
    return line;
}

}  // namespace tare::guest
