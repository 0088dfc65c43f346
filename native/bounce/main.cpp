// SPDX-License-Identifier: Apache-2.0
// Sends bytes to another process and has them back, and times that at the client:
//   bounce connect HOST PORT THREADS CONNECTIONS             over a TCP connection for each byte
//   bounce send HOST PORT PATIENCE_MS ROUNDS TRIPS SIZE...   in UDP datagrams of each size
//   bounce serve-connections PORT THREADS                    their servers, which only a signal ends
//   bounce serve-datagrams PORT
// The clients verify each answer and print JSON. IPv4 alone; HOST is a name of /etc/hosts or a number.
#include <arpa/inet.h>

#include <chrono>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bounce/connections.hpp"
#include "bounce/datagrams.hpp"
#include "common/number.hpp"
#include "common/printed.hpp"
#include "meet/sockets.hpp"

namespace {

using namespace tare::bounce;
using Words = std::span<char* const>;

constexpr std::string_view usage =
    "write: bounce connect HOST PORT THREADS CONNECTIONS, bounce send HOST PORT PATIENCE_MS ROUNDS TRIPS "
    "SIZE..., "
    "bounce serve-connections PORT THREADS or bounce serve-datagrams PORT";
constexpr std::uint64_t most = 100'000'000;
constexpr std::uint64_t most_patience_ms = 60'000;
constexpr std::uint64_t most_port = 65'535;
constexpr std::uint64_t most_threads = 1024;

std::uint64_t number(std::string_view text, std::uint64_t largest) {
    const auto value = tare::parse_number<std::uint64_t>(text);
    if (!value || *value == 0 || *value > largest) {
        throw std::invalid_argument("'" + std::string{text} + "' is not a whole number from 1 to " +
                                    std::to_string(largest));
    }
    return *value;
}

std::uint16_t port(std::string_view text) { return static_cast<std::uint16_t>(number(text, most_port)); }

unsigned threads(std::string_view text) { return static_cast<unsigned>(number(text, most_threads)); }

sockaddr_in server(std::string_view host, std::string_view port_text) {
    in_addr address{};
    const std::string text = tare::address_of_node(host);
    if (text.empty() || ::inet_pton(AF_INET, text.c_str(), &address) != 1) {
        throw std::invalid_argument("nobody knows the address of '" + std::string{host} + "'");
    }
    return tare::internet_address(address.s_addr, port(port_text));
}

std::string compose(Words words) {
    constexpr std::size_t connect_words = 6;
    constexpr std::size_t sizes_at = 7;
    const std::string_view role = words.size() > 1 ? words[1] : "";
    if (role == "serve-connections" && words.size() == 4) {
        serve_connections(port(words[2]), threads(words[3]));
    }
    if (role == "serve-datagrams" && words.size() == 3) {
        serve_datagrams(port(words[2]));
    }
    if (role == "connect" && words.size() == connect_words) {
        return time_connections(server(words[2], words[3]), number(words.back(), most), threads(words[4]));
    }
    if (role != "send" || words.size() <= sizes_at) {
        throw std::invalid_argument(std::string{usage});
    }
    std::vector<std::size_t> sizes_byte;
    for (const char* const word : words.subspan(sizes_at)) {
        sizes_byte.push_back(number(word, most_datagram_byte));
    }
    const std::chrono::milliseconds patience{number(words[4], most_patience_ms)};
    const Trips wanted{
        .patience = patience, .rounds = number(words[5], most), .trips = number(words[sizes_at - 1], most)};
    return time_datagrams(server(words[2], words[3]), wanted, sizes_byte);
}

}  // namespace

int main(int argc, char** argv) {
    return tare::print_composed("bounce", compose, Words{argv, static_cast<std::size_t>(argc)});
}
