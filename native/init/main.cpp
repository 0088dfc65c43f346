// SPDX-License-Identifier: Apache-2.0
// The first process of a node.
//
//   init              idle, in a container: says READY, reaps every child, ends when told to
//   init attend PATH  the same, and starts commands for whoever connects to the socket at PATH
//   init guest        in a virtual machine that Tare started: boots it, and serves its channel
//   init serve ...    in a machine that is there already, as an ordinary program: serves its channel
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>

#include "common/exec.hpp"
#include "common/system.hpp"
#include "guest/guest.hpp"
#include "guest/serve.hpp"
#include "init/attend.hpp"

namespace {

/// The kernel puts words of its command line that it does not know before those meant for the first process.
bool is_guest(std::span<char* const> arguments) {
    return ::getpid() == 1 && std::any_of(arguments.begin(), arguments.end(),
                                          [](std::string_view word) { return word == "guest"; });
}

/// Words that say no role change nothing: some containers start their first process with words of their own.
int run(std::span<char* const> arguments) {
    if (is_guest(arguments)) {
        tare::guest::be_guest();
    }
    const std::string_view role = arguments.empty() ? "" : arguments.front();
    if (role == "serve") {
        return tare::guest::serve(arguments.subspan(1));
    }
    if (role == "attend" && arguments.size() == 2) {
        return tare::init::attend(arguments.back());
    }
    if (role == "guest") {
        throw std::invalid_argument("only the first process of a machine can be its guest's");
    }
    return tare::init::attend(std::nullopt);
}

}  // namespace

int main(int count, char** words) {
    const std::span<char* const> arguments{words, static_cast<std::size_t>(count)};
    try {
        return run(arguments.subspan(1));
    } catch (const std::exception& failure) {
        tare::complain("init", failure.what());
        return tare::exit_wrong_use;
    }
}
