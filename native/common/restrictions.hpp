// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace tare {

/// Whom a command runs as, by number, so that no node needs a name for it.
struct User {
    uid_t user;
    gid_t group;
};

/// "UID:GID" in decimal; throws `std::invalid_argument`.
[[nodiscard]] User parse_user(std::string_view text);

/// What a process takes on before it becomes a command that nobody trusts.
class Restrictions {
  public:
    /// `text` is "UID:GID"; throws `std::invalid_argument`. Only root changes its user: an ordinary user is
    /// one already.
    void set_user(std::string_view text);

    /// `text` is "NAME=NUMBER", with NAME one of core, nofile and nproc (getrlimit(2)); throws
    /// `std::invalid_argument`. Neither is the hard limit raised for it.
    void add_limit(std::string_view text);

    /// Whose the command's own files are to be; nothing where the user is not changed.
    [[nodiscard]] std::optional<User> owner() const;

    [[nodiscard]] bool empty() const { return !user_ && limits_.empty(); }

    /// Takes them on, for good, without allocating: it may be called between vfork(2) and execve(2). Gives
    /// what could not be done, with errno set, or null. What is bound to the caller's identity, such as the
    /// signal at its parent's death (PR_SET_PDEATHSIG), must be set afterwards.
    [[nodiscard]] const char* apply() const;

  private:
    std::optional<User> user_;
    std::vector<std::pair<int, rlim_t>> limits_;
};

}  // namespace tare
