// SPDX-License-Identifier: Apache-2.0
#include "common/restrictions.hpp"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "common/number.hpp"

namespace tare {

namespace {

struct Limit {
    std::string_view name;
    int number;
};

constexpr std::array limits{Limit{"core", RLIMIT_CORE}, Limit{"nofile", RLIMIT_NOFILE},
                            Limit{"nproc", RLIMIT_NPROC}};

int resource_of(std::string_view name) {
    const auto* const known =
        std::find_if(limits.begin(), limits.end(), [name](const Limit& limit) { return limit.name == name; });
    if (known == limits.end()) {
        throw std::invalid_argument("'" + std::string{name} + "' is not one of core, nofile and nproc");
    }
    return known->number;
}

bool set_limit(int resource, rlim_t value) {
    const auto which = static_cast<__rlimit_resource_t>(resource);
    rlimit limit{};
    if (::getrlimit(which, &limit) != 0) {
        return false;
    }
    limit.rlim_max = std::min(limit.rlim_max, value);
    limit.rlim_cur = limit.rlim_max;
    return ::setrlimit(which, &limit) == 0;
}

/// The bare system calls: the C library's own would change every thread of a process whose memory is shared.
bool change_user(const User& user) {
    return ::syscall(SYS_setgroups, 0, nullptr) == 0 &&
           ::syscall(SYS_setresgid, user.group, user.group, user.group) == 0 &&
           ::syscall(SYS_setresuid, user.user, user.user, user.user) == 0;
}

/// Capabilities that a program could inherit outlive a change of the user (capabilities(7)), and a
/// set-user-id program in a folder that the user lends would undo it.
bool give_up_rights() {
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
    return ::syscall(SYS_capset, &header, none.data()) == 0 && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

}  // namespace

User parse_user(std::string_view text) {
    const auto colon = text.find(':');
    const auto user = parse_number<uid_t>(text.substr(0, colon));
    const auto group =
        colon == std::string_view::npos ? std::nullopt : parse_number<gid_t>(text.substr(colon + 1));
    constexpr auto unchanged = static_cast<uid_t>(-1);  // setresuid(2)
    if (!user || !group || *user == unchanged || *group == unchanged) {
        throw std::invalid_argument("'" + std::string{text} + "' is not UID:GID");
    }
    return {.user = *user, .group = *group};
}

void Restrictions::set_user(std::string_view text) { user_ = parse_user(text); }

void Restrictions::add_limit(std::string_view text) {
    const auto equals = text.find('=');
    const auto value =
        equals == std::string_view::npos ? std::nullopt : parse_number<rlim_t>(text.substr(equals + 1));
    if (!value) {
        throw std::invalid_argument("'" + std::string{text} + "' is not NAME=NUMBER");
    }
    limits_.emplace_back(resource_of(text.substr(0, equals)), *value);
}

std::optional<User> Restrictions::owner() const { return ::geteuid() == 0 ? user_ : std::nullopt; }

const char* Restrictions::apply() const {
    for (const auto& [resource, value] : limits_) {
        if (!set_limit(resource, value)) {
            return "be limited";
        }
    }
    if (user_ && ::geteuid() == 0) {
        if (!change_user(*user_)) {
            return "become another user";
        }
        if (!give_up_rights()) {
            return "give up its rights";
        }
    }
    return nullptr;
}

}  // namespace tare
