// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "guest/boot.hpp"

namespace {

using tare::guest::Boot;
using tare::guest::parse_boot;

constexpr std::string_view smallest =
    "channel serial /dev/ttyS1\n"
    "root /dev/sda erofs\n"
    "layer /dev/sdb ext4\n"
    "shm 1048576\n"
    "name n0\n";

std::string refusal(const std::string& text) {
    try {
        static_cast<void>(parse_boot(text));
    } catch (const std::invalid_argument& wrong) {
        return wrong.what();
    }
    return "";
}

TEST_CASE("all that a guest can be told is understood") {
    const Boot boot = parse_boot(
        "channel virtio tare\n"
        "module /modules/virtio_pci.ko\n"
        "module /modules/virtio_blk.ko\n"
        "root /dev/vda erofs\n"
        "layer tmpfs 536870912\n"
        "shm 268435456\n"
        "name node-0\n"
        "address 198.18.0.10/16\n"
        "gateway 10.0.2.2\n"
        "bind data /data ro\n"
        "bind scratch /scratch rw\n"
        "virtiofs shared /shared rw\n"
        "work /mnt/tare\n");
    CHECK(std::get<tare::guest::VirtioPort>(boot.channel).name == "tare");
    CHECK(boot.modules == std::vector<std::string>{"/modules/virtio_pci.ko", "/modules/virtio_blk.ko"});
    CHECK(boot.root.device == "/dev/vda");
    CHECK(boot.root.type == "erofs");
    CHECK(std::get<tare::guest::Memory>(boot.layer).size_byte == 536870912);
    CHECK(boot.shm_byte == 268435456);
    CHECK(boot.name == "node-0");
    REQUIRE(boot.address.has_value());
    CHECK(boot.address->number == "198.18.0.10");
    CHECK(boot.address->prefix_bits == 16);
    CHECK(boot.gateway == "10.0.2.2");
    REQUIRE(boot.binds.size() == 3);
    CHECK(boot.binds[0].type == "9p");
    CHECK(boot.binds[2].type == "virtiofs");
    CHECK(boot.binds[2].tag == "shared");
    CHECK(boot.binds[0].tag == "data");
    CHECK_FALSE(boot.binds[0].writable);
    CHECK(boot.binds[1].target == "/scratch");
    CHECK(boot.binds[1].writable);
    CHECK(boot.work == "/mnt/tare");
}

TEST_CASE("what is optional may be missing, and the last line end too") {
    const Boot boot = parse_boot(smallest.substr(0, smallest.size() - 1));
    CHECK(std::get<tare::guest::SerialDevice>(boot.channel).path == "/dev/ttyS1");
    CHECK(std::get<tare::guest::Disk>(boot.layer).type == "ext4");
    CHECK_FALSE(boot.address.has_value());
    CHECK(boot.modules.empty());
    CHECK(boot.work.empty());
}

TEST_CASE("each wrong line is refused, and said") {
    for (const char* const line :
         {"chanel virtio tare", "module", "module /a /b", "module a.ko", "work  /mnt", "work mnt", "",
          "address 198.18.0.10", "address 198.18.0.10/33", "address 198.18.0/16", "address /16",
          "gateway none", "bind data /data", "bind data /data rx", "bind data data ro", "name n1"}) {
        INFO(line);
        const std::string why = refusal(std::string{smallest} + line + "\nwork /mnt/tare\n");
        CHECK(why.starts_with("line 6 of the boot configuration: "));
    }
}

TEST_CASE("what a guest cannot be without is asked for") {
    for (const std::string name : {"channel", "root", "layer", "shm", "name"}) {
        const auto start = smallest.find(name + ' ');
        std::string text{smallest};
        text.erase(start, text.find('\n', start) - start + 1);
        CHECK(refusal(text) == "the boot configuration lacks '" + name + "'");
    }
}

TEST_CASE("wrong channels, layers and sizes are refused") {
    for (const char* const text : {"channel tcp 1\n", "channel serial ttyS1\n", "layer tmpfs many\n",
                                   "layer tmpfs 0\n", "layer vdb ext4\n", "shm -1\n", "root vda erofs\n"}) {
        INFO(text);
        CHECK(refusal(text).starts_with("line 1 of"));
    }
}

}  // namespace
