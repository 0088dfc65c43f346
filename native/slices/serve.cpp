// SPDX-License-Identifier: Apache-2.0
#include "slices/serve.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "common/number.hpp"
#include "common/system.hpp"

namespace tare::slices {

namespace {

constexpr std::chrono::minutes print_limit{1};

void print(const std::string& line) {
    if (!write_all(STDOUT_FILENO, line + '\n', print_limit)) {
        throw std::runtime_error("nobody reads the answers");
    }
}

/// False at the end of the input, and when a line grows too long to be a turn.
bool read_more(std::string& received) {
    constexpr std::size_t page_byte = 4096;
    std::array<char, page_byte> buffer{};
    const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count < 0 && errno != EINTR) {
        throw_errno("cannot read the next turn");
    }
    received.append(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    return count != 0 && received.size() <= page_byte;
}

Parameters parameters_of(const std::string& name) {
    Parameters parameters;
    for (auto colon = name.find(':'); colon != std::string::npos;) {
        const auto next = name.find(':', colon + 1);
        const auto number = parse_number<std::uint64_t>(
            std::string_view{name}.substr(colon + 1, next == std::string::npos ? next : next - colon - 1));
        if (!number) {
            throw std::invalid_argument("in '" + name + "' whole numbers must follow the colons");
        }
        parameters.push_back(*number);
        colon = next;
    }
    return parameters;
}

void do_once(const Options& options, const DoTurn& do_turn) {
    for (std::uint64_t round = 0; round < options.rounds; ++round) {
        for (const Turn& turn : options.once) {
            print(turn.text() + ' ' + do_turn(turn).line());
        }
    }
    print(std::string{last_line});
}

}  // namespace

std::unique_ptr<Piece> Maker::make(const std::string& name, const Parameters& parameters) const {
    if (parameters.size() != needed_) {
        throw std::invalid_argument("'" + name + "' has " + std::to_string(parameters.size()) +
                                    " numbers behind its name, and needs " + std::to_string(needed_));
    }
    return make_(parameters);
}

Piece& Pieces::use(const std::string& name) {
    auto used = used_.find(name);
    if (used == used_.end()) {
        const auto maker = makers_.find(name.substr(0, name.find(':')));
        if (maker == makers_.end()) {
            throw std::invalid_argument("there is no piece '" + name + "'");
        }
        used = used_.emplace(name, maker->second.make(name, parameters_of(name))).first;
    }
    return *used->second;
}

void Pieces::verify() {
    for (const auto& [name, piece] : used_) {
        piece->verify();
    }
}

std::optional<std::string> read_line() {
    static std::string received;
    while (received.find('\n') == std::string::npos) {
        if (!read_more(received)) {
            return received.empty() ? std::nullopt : std::optional{std::exchange(received, {})};
        }
    }
    const auto end = received.find('\n');
    std::string line = received.substr(0, end);
    received.erase(0, end + 1);
    return line;
}

void serve(const Options& options, const DoTurn& do_turn) {
    if (!options.once.empty()) {
        do_once(options, do_turn);
        return;
    }
    while (const auto line = read_line()) {
        print(do_turn(parse_turn(*line)).line());
    }
}

}  // namespace tare::slices
