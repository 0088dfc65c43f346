// SPDX-License-Identifier: Apache-2.0
#include "guest/network.hpp"

#include <arpa/inet.h>
#include <net/if.h>
#include <net/route.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>

#include "common/file_descriptor.hpp"
#include "common/system.hpp"
#include "guest/waiting.hpp"

namespace tare::guest {

namespace {

constexpr const char* interface = "eth0";

ifreq request_for(const std::string& name) {
    ifreq request{};
    name.copy(static_cast<char*>(request.ifr_name), IFNAMSIZ - 1);
    return request;
}

sockaddr socket_address(in_addr number) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr = number;
    sockaddr plain{};
    std::memcpy(&plain, &address, sizeof plain);
    return plain;
}

in_addr parsed(const std::string& number) {
    in_addr address{};
    static_cast<void>(::inet_pton(AF_INET, number.c_str(), &address));  // parse_boot saw to it
    return address;
}

in_addr netmask(unsigned prefix_bits) {
    constexpr unsigned all_bits = 32;
    return {.s_addr = htonl(prefix_bits == 0 ? 0 : ~std::uint32_t{0} << (all_bits - prefix_bits))};
}

/// The interfaces of this machine, by requests of netdevice(7).
class Interfaces {
  public:
    Interfaces() : socket_{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)} {
        if (!socket_) {
            throw_errno("cannot reach the network's settings");
        }
    }

    void bring_up(const std::string& name) const {
        ifreq request = request_for(name);
        ask(SIOCGIFFLAGS, request, "cannot find the interface " + name);
        request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
        ask(SIOCSIFFLAGS, request, "cannot bring up " + name);
    }

    void rename(const std::string& from, const std::string& into) const {
        ifreq request = request_for(from);
        into.copy(static_cast<char*>(request.ifr_newname), IFNAMSIZ - 1);
        ask(SIOCSIFNAME, request, "cannot rename " + from + " to " + into);
    }

    void set_address(const std::string& name, const Address& address) const {
        ifreq request = request_for(name);
        request.ifr_addr = socket_address(parsed(address.number));
        ask(SIOCSIFADDR, request, "cannot give " + name + " the address " + address.number);
        request.ifr_netmask = socket_address(netmask(address.prefix_bits));
        ask(SIOCSIFNETMASK, request, "cannot set the netmask of " + name);
    }

    void set_gateway(const std::string& gateway) const {
        rtentry route{};
        route.rt_dst = socket_address({.s_addr = 0});
        route.rt_genmask = socket_address({.s_addr = 0});
        route.rt_gateway = socket_address(parsed(gateway));
        route.rt_flags = RTF_UP | RTF_GATEWAY;
        ask(SIOCADDRT, route, "cannot set the gateway " + gateway);
    }

  private:
    template <typename Request>
    void ask(unsigned long what, Request& request, const std::string& failure) const {
        if (::ioctl(socket_.number(), what, &request) != 0) {
            throw_errno(failure);
        }
    }

    FileDescriptor socket_;
};

std::optional<std::string> find_interface() {
    for (const auto& entry : std::filesystem::directory_iterator{"/sys/class/net"}) {
        if (entry.path().filename() != "lo") {
            return entry.path().filename().string();
        }
    }
    return std::nullopt;
}

}  // namespace

void set_up_network(const Boot& boot) {
    const Interfaces interfaces;
    interfaces.bring_up("lo");
    if (!boot.address) {
        return;
    }
    const std::string found = wait_for("a network interface", find_interface);
    if (found != interface) {
        interfaces.rename(found, interface);
    }
    interfaces.set_address(interface, *boot.address);
    interfaces.bring_up(interface);
    if (boot.gateway) {
        interfaces.set_gateway(*boot.gateway);
    }
}

}  // namespace tare::guest
