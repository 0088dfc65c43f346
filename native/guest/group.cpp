// SPDX-License-Identifier: Apache-2.0
#include "guest/group.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include "common/system.hpp"

namespace tare::guest {

namespace {

constexpr mode_t group_mode = 0755;

std::string next_name() {
    static std::uint64_t count = 0;
    // The process id keeps two who serve in one guest apart.
    return "tare-" + std::to_string(::getpid()) + "-" + std::to_string(count++);
}

}  // namespace

std::optional<Group> Group::create(const std::filesystem::path& parent) {
    auto path = parent / next_name();
    if (::mkdir(path.c_str(), group_mode) != 0) {
        return std::nullopt;
    }
    Group group{path, FileDescriptor{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)}};
    if (group.directory_ && ::faccessat(group.directory(), "cgroup.kill", W_OK, 0) == 0) {
        return group;
    }
    group.remove();
    return std::nullopt;
}

void Group::kill() {
    killed_ = true;
    const FileDescriptor file{::openat(directory(), "cgroup.kill", O_WRONLY | O_CLOEXEC)};
    std::ignore = ::write(file.number(), "1", 1);
}

bool Group::empty() const {
    return read_text(path_ / "cgroup.events").value_or("").find("populated 0") != std::string::npos;
}

void Group::remove() const { static_cast<void>(::rmdir(path_.c_str())); }

Groups::~Groups() {
    await_killed();
    for (const Group& group : spare_) {
        group.remove();
    }
}

void Groups::await_killed() {
    constexpr std::chrono::milliseconds step{2};
    constexpr std::chrono::seconds limit{2};
    const auto last = std::chrono::steady_clock::now() + limit;
    sweep();
    while (std::any_of(left_.begin(), left_.end(), std::mem_fn(&Group::killed)) &&
           std::chrono::steady_clock::now() < last) {
        std::this_thread::sleep_for(step);
        sweep();
    }
}

std::optional<Group> Groups::take() {
    if (!spare_.empty()) {
        Group group = std::move(spare_.back());
        spare_.pop_back();
        return group;
    }
    return parent_ ? Group::create(*parent_) : std::nullopt;
}

void Groups::give_back(Group group) {
    if (!group.empty()) {
        left_.push_back(std::move(group));
    } else if (group.killed()) {
        group.remove();
    } else {
        spare_.push_back(std::move(group));
    }
}

void Groups::sweep() {
    std::vector<Group> left = std::exchange(left_, {});
    for (Group& group : left) {
        give_back(std::move(group));
    }
}

}  // namespace tare::guest
