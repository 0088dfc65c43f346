// SPDX-License-Identifier: Apache-2.0
#include "guest/guest.hpp"

#include <sys/mount.h>
#include <sys/reboot.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/system.hpp"
#include "guest/boot.hpp"
#include "guest/filesystem.hpp"
#include "guest/module.hpp"
#include "guest/network.hpp"
#include "guest/port.hpp"
#include "guest/server.hpp"
#include "guest/system_commands.hpp"

namespace tare::guest {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view boot_file = "/boot.conf";
constexpr const char* groups = "/sys/fs/cgroup";

Boot read_boot() {
    const auto text = read_text(boot_file);
    if (!text) {
        throw std::runtime_error("the initramfs lacks " + std::string{boot_file});
    }
    return parse_boot(*text);
}

void set_name(const std::string& name) {
    if (::sethostname(name.data(), name.size()) != 0) {
        throw_errno("cannot set the name '" + name + "'");
    }
}

/// Where commands get their control groups; nothing if this kernel has none.
std::optional<fs::path> mount_groups() {
    const bool mounted =
        ::mount("cgroup2", groups, "cgroup2", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0;
    return mounted ? std::optional{fs::path{groups}} : std::nullopt;
}

void boot_as(const Boot& boot) {
    for (const std::string& module : boot.modules) {
        load_module(module);
    }
    switch_root(mount_root(boot));
    set_name(boot.name);
    set_up_network(boot);
}

/// The guest's whole life; returns when the host said so.
void live() {
    const Boot boot = read_boot();
    mount_kernel_filesystems();
    const FileDescriptor deaths = prepare_to_serve();
    boot_as(boot);
    SystemCommands commands{mount_groups(), true};
    Server server{open_line(boot.channel), commands};
    if (server.serve(deaths.number()) == Server::End::host_left) {
        throw std::runtime_error("the host closed the channel");
    }
}

/// One line for the host. The kernel gives its first process the console for standard error.
void say(const std::string& line) {
    constexpr std::chrono::seconds limit{2};
    static_cast<void>(write_all(STDERR_FILENO, "tare: the guest ends: " + line + "\n", limit));
}

[[noreturn]] void power_off() {
    ::sync();
    ::reboot(RB_POWER_OFF);
    for (;;) {  // a machine that cannot be powered off stands still until it is killed
        ::pause();
    }
}

}  // namespace

void be_guest() {
    try {
        live();
    } catch (const std::exception& failure) {
        say(failure.what());
    }
    power_off();
}

}  // namespace tare::guest
