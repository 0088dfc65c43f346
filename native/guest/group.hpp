// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "common/file_descriptor.hpp"

namespace tare::guest {

/// A control group of version 2 that holds one command and all that it starts: nothing leaves it by a session
/// of its own, and all of it can be killed at once (the kernel's cgroup-v2.rst).
class Group {
  public:
    /// A new group in `parent`; nothing where there are no such groups, or none that can be killed (before
    /// Linux 5.14).
    [[nodiscard]] static std::optional<Group> create(const std::filesystem::path& parent);

    /// Its folder, open, as clone3(2) wants it.
    [[nodiscard]] int directory() const { return directory_.number(); }

    void kill();

    /// Linux 6.18 was seen to kill whatever is forked into a group that was ever killed.
    [[nodiscard]] bool killed() const { return killed_; }

    /// Whether nothing in it lives.
    [[nodiscard]] bool empty() const;

    /// Removes it, if it is empty.
    void remove() const;

  private:
    Group(std::filesystem::path path, FileDescriptor directory)
        : path_{std::move(path)}, directory_{std::move(directory)} {}

    std::filesystem::path path_;
    FileDescriptor directory_;
    bool killed_ = false;
};

/// The groups of all commands. Empty ones are used again: to make and remove one takes longer than to start a
/// process.
class Groups {
  public:
    /// `parent`: where they are made; nothing: there are none.
    explicit Groups(std::optional<std::filesystem::path> parent) : parent_{std::move(parent)} {}
    Groups(const Groups&) = delete;
    Groups& operator=(const Groups&) = delete;
    Groups(Groups&&) = delete;
    Groups& operator=(Groups&&) = delete;
    ~Groups();

    /// An empty group, if there can be one.
    [[nodiscard]] std::optional<Group> take();

    /// The command has ended; what it left behind may live on.
    void give_back(Group group);

    /// Looks for groups that have become empty since.
    void sweep();

  private:
    /// Sweeps until what was killed is gone: its last members die a moment after the first.
    void await_killed();

    std::optional<std::filesystem::path> parent_;
    std::vector<Group> spare_;
    std::vector<Group> left_;
};

}  // namespace tare::guest
