// SPDX-License-Identifier: Apache-2.0
#include "guest/serve.hpp"

#include <chrono>
#include <exception>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/system.hpp"
#include "guest/boot.hpp"
#include "guest/port.hpp"
#include "guest/server.hpp"
#include "guest/system_commands.hpp"

namespace tare::guest {

namespace {

constexpr std::string_view program = "init";
constexpr std::chrono::seconds end_limit{10};

struct Options {
    std::optional<Channel> channel;
    std::optional<std::filesystem::path> groups;
};

void set(Options& options, std::string_view name, const char* value) {
    if (name == "--virtio") {
        options.channel = VirtioPort{value};
    } else if (name == "--serial") {
        options.channel = SerialDevice{value};
    } else if (name == "--groups") {
        options.groups = value;
    } else {
        throw std::invalid_argument("there is no option '" + std::string{name} + "'");
    }
}

Options parse(std::span<char* const> arguments) {
    Options options;
    for (; arguments.size() >= 2; arguments = arguments.subspan(2)) {
        set(options, arguments[0], arguments[1]);
    }
    if (!arguments.empty() || !options.channel) {
        throw std::invalid_argument(
            "serve takes --virtio NAME or --serial DEVICE, and perhaps --groups FOLDER");
    }
    return options;
}

/// Why it ended; nothing when the host asked for it.
std::optional<std::string> serve_until_the_end(Server& server, int deaths) {
    try {
        const bool asked = server.serve(deaths) == Server::End::power_off;
        return asked ? std::nullopt : std::optional<std::string>{"the host closed the channel"};
    } catch (const std::exception& failure) {
        return failure.what();
    }
}

}  // namespace

int serve(std::span<char* const> arguments) {
    const Options options = parse(arguments);
    const FileDescriptor deaths = prepare_to_serve();
    SystemCommands commands{options.groups, false};
    Server server{open_line(*options.channel), commands};
    const auto reason = serve_until_the_end(server, deaths.number());
    server.end_all(deaths.number(), end_limit);
    if (reason) {
        complain(program, *reason);
    }
    return reason ? 1 : 0;
}

}  // namespace tare::guest
