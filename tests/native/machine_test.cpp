// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "machine/devices.hpp"
#include "machine/kernel.hpp"
#include "machine/kernel_log.hpp"
#include "machine/processor.hpp"

namespace {

using namespace tare::machine;
namespace fs = std::filesystem;

/// A made-up /proc, /sys and /dev.
class Tree {
  public:
    Tree() {
        std::array<char, 32> name{"/tmp/tare-machine-XXXXXX"};
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        root_ = name.data();
    }
    Tree(const Tree&) = delete;
    Tree(Tree&&) = delete;
    Tree& operator=(const Tree&) = delete;
    Tree& operator=(Tree&&) = delete;
    ~Tree() { fs::remove_all(root_); }

    Tree& file(const fs::path& place, const std::string& text) {
        fs::create_directories((root_ / place).parent_path());
        std::ofstream{root_ / place} << text;
        return *this;
    }
    Tree& folder(const fs::path& place) {
        fs::create_directories(root_ / place);
        return *this;
    }
    /// As sysfs has links: relative to where they lie.
    Tree& link(const fs::path& place, const fs::path& target) {
        fs::create_directories((root_ / place).parent_path());
        fs::create_symlink(target, root_ / place);
        return *this;
    }

    [[nodiscard]] const fs::path& root() const { return root_; }

  private:
    fs::path root_;
};

std::vector<std::string> texts(const Devices& devices) {
    REQUIRE(devices);
    std::vector<std::string> found;
    for (const auto& device : *devices) {
        found.push_back(device.text());
    }
    return found;
}

using Texts = std::vector<std::string>;

/// What was recorded in a guest of QEMU 7.2 with Linux 6.1, of the kinds of devices that Tare gives it; the
/// format is plain to see. Folders are there where something lies in them.
void load(Tree& tree, const std::string& kind) {
    std::ifstream lines{fs::path{TARE_RECORDED_TREES} / (kind + ".txt")};
    std::string place;
    std::string text;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with('|')) {
            text += line.substr(1) + '\n';
            tree.file(place, text);
            continue;
        }
        const auto words = words_of(line);
        REQUIRE(words.size() >= 2);
        place = words[1];
        text.clear();
        if (words[0] == "link") {
            tree.link(place, words.at(2));
        }
    }
    REQUIRE(fs::exists(tree.root() / "proc"));
}

TEST_CASE("paravirtual devices are told with all their drivers") {
    Tree tree;
    load(tree, "paravirtual");
    CHECK(texts(block_devices(tree.root())) ==
          Texts{R"({"name":"vda","drivers":["virtio_blk","virtio-pci"],"buses":["virtio","pci"]})"});
    CHECK(texts(network_interfaces(tree.root())) ==
          Texts{R"({"name":"eth0","drivers":["virtio_net","virtio-pci"],"buses":["virtio","pci"]})",
                R"({"name":"lo","drivers":[],"buses":[]})"});
    CHECK(texts(virtio_devices(tree.root())) ==
          Texts{R"({"name":"virtio0","id":3,"driver":"virtio_console"})",
                R"({"name":"virtio1","id":2,"driver":"virtio_blk"})",
                R"({"name":"virtio2","id":1,"driver":"virtio_net"})"});
    const auto pci = texts(pci_devices(tree.root()));
    REQUIRE(pci.size() == 7);
    CHECK(pci[0] == R"({"address":"0000:00:00.0","id":"8086:29c0","driver":null})");
    CHECK(pci[3] == R"({"address":"0000:00:03.0","id":"1af4:1000","driver":"virtio-pci"})");
}

TEST_CASE("emulated devices are told with the driver of their controller") {
    Tree tree;
    load(tree, "emulated");
    CHECK(texts(block_devices(tree.root())) ==
          Texts{R"({"name":"sda","drivers":["sd","ata_piix"],"buses":["scsi","pci"]})"});
    CHECK(texts(network_interfaces(tree.root())) ==
          Texts{R"({"name":"eth0","drivers":["e1000"],"buses":["pci"]})",
                R"({"name":"lo","drivers":[],"buses":[]})"});
    CHECK(texts(virtio_devices(tree.root())).empty());
    CHECK(texts(pci_devices(tree.root())).size() == 5);
}

TEST_CASE("a guest's kernel tells its clock, its memory and its modules") {
    Tree tree;
    load(tree, "emulated");
    const auto log = read_kernel_log(tree.root());
    CHECK(log.booted_on == "bare hardware");
    CHECK(log.tsc_rate->khz == 2'596'123);
    CHECK(log.tsc_rate->from == "kernel log: refined");
    CHECK(clock_source(tree.root()) == "tsc");
    CHECK(clock_sources(tree.root()) == Texts{"tsc", "hpet", "acpi_pm"});
    CHECK(kernel_release(tree.root()) == "6.1.0-56-amd64");
    CHECK(memory_byte(tree.root()) == 210'504ULL * 1024);
    CHECK(steal_tick(tree.root()) == 0);
    CHECK(online_processors(tree.root()) == 2);
    REQUIRE(modules(tree.root()));
    CHECK(modules(tree.root())->front() == "e1000");
    CHECK(modules(tree.root())->size() == 16);
}

TEST_CASE("a device without a driver, or with a number that is none, says so") {
    Tree tree;
    tree.folder("sys/bus/virtio/devices/virtio0").file("sys/bus/virtio/devices/virtio1/device", "0x2z\n");
    tree.file("sys/bus/pci/devices/0000:00:00.0/vendor", "0x8086\n");
    CHECK(texts(virtio_devices(tree.root())) == Texts{R"({"name":"virtio0","id":null,"driver":null})",
                                                      R"({"name":"virtio1","id":null,"driver":null})"});
    CHECK(texts(pci_devices(tree.root())) ==
          Texts{R"({"address":"0000:00:00.0","id":"8086:","driver":null})"});
}

TEST_CASE("without /sys and /proc everything is missing, and nothing is empty") {
    const Tree tree;
    CHECK_FALSE(block_devices(tree.root()));
    CHECK_FALSE(network_interfaces(tree.root()));
    CHECK_FALSE(virtio_devices(tree.root()));
    CHECK_FALSE(pci_devices(tree.root()));
    CHECK_FALSE(modules(tree.root()));
    CHECK_FALSE(clock_source(tree.root()));
    CHECK_FALSE(clock_sources(tree.root()));
    CHECK_FALSE(online_processors(tree.root()));
    CHECK_FALSE(memory_byte(tree.root()));
    CHECK_FALSE(steal_tick(tree.root()));
    CHECK_FALSE(kernel_release(tree.root()));
    CHECK_FALSE(command_line(tree.root()));
    CHECK_FALSE(read_kernel_log(tree.root()).booted_on);
    CHECK_FALSE(read_kernel_log(tree.root()).tsc_rate);
}

TEST_CASE("stolen ticks are those of all processors") {
    Tree tree;
    tree.file("proc/stat", "cpu  10 0 20 3000 4 0 1 1916 0 0\ncpu0 10 0 20 3000 4 0 1 9 0 0\n");
    tree.file("sys/devices/system/cpu/online", "0-1,3\n");
    CHECK(steal_tick(tree.root()) == 1916);
    CHECK(online_processors(tree.root()) == 3);
}

TEST_CASE("figures that are cut or are none stay missing") {
    Tree tree;
    tree.file("proc/meminfo", "MemTotal: lots kB\n").file("proc/stat", "cpu 10 0 20\n");
    tree.file("sys/devices/system/cpu/online", "all\n").file("proc/modules", "");
    CHECK_FALSE(memory_byte(tree.root()));
    CHECK_FALSE(steal_tick(tree.root()));
    CHECK_FALSE(online_processors(tree.root()));
    CHECK(modules(tree.root()) == Texts{});
}

TEST_CASE("the kernel's log tells what it was booted on") {
    KernelLog log;
    take_line(log, "6,27,0,-;Booting paravirtualized kernel on bare hardware");
    CHECK(log.booted_on == "bare hardware");
    take_line(log, "6,28,0,-;Booting paravirtualized kernel on KVM");
    CHECK(log.booted_on == "KVM");
}

TEST_CASE("of several rates the best founded one stays, whatever the order") {
    const Texts lines{"6,5,0,-;tsc: Detected 2596.120 MHz processor",
                      "6,6,0,-;tsc: Detected 2596.121 MHz TSC",
                      "6,9,0,-;tsc: Refined TSC clocksource calibration: 2596.106 MHz"};
    KernelLog log;
    take_line(log, lines[0]);
    CHECK(log.tsc_rate->khz == 2'596'120);
    take_line(log, lines[1]);
    CHECK(log.tsc_rate->khz == 2'596'121);
    CHECK(log.tsc_rate->from == "kernel log: detected");
    take_line(log, lines[2]);
    CHECK(log.tsc_rate->khz == 2'596'106);
    take_line(log, lines[0]);
    CHECK(log.tsc_rate->from == "kernel log: refined");
}

TEST_CASE("a rate that is no number is no rate") {
    KernelLog log;
    for (const char* const text : {"", "x", "-1", "0", "inf", "1.2.3"}) {
        take_line(log, std::string{"tsc: Detected "} + text + " MHz processor");
        CHECK_FALSE(log.tsc_rate);
    }
    take_line(log, "tsc: Detected 2596.120");
    CHECK_FALSE(log.tsc_rate);
}

TEST_CASE("the log is read record by record") {
    Tree tree;
    tree.file("dev/kmsg", "6,1,0,-;x\n6,2,0,-;Booting paravirtualized kernel on KVM\n SUBSYSTEM=x\n");
    CHECK(read_kernel_log(tree.root()).booted_on == "KVM");
}

TEST_CASE("a signature is twelve bytes of three registers") {
    CHECK(signature_of({.eax = 0x40000001, .ebx = 0x4B4D564B, .ecx = 0x564B4D56, .edx = 0x4D}) ==
          "KVMKVMKVM");
    CHECK(signature_of({.eax = 0x40000001, .ebx = 0x54474354, .ecx = 0x43544743, .edx = 0x47435447}) ==
          "TCGTCGTCGTCG");
    CHECK(signature_of({}).empty());
}

TEST_CASE("features of KVM are named, those without a name by their bit") {
    CHECK(kvm_feature_names(0).empty());
    CHECK(kvm_feature_names(1U | (1U << 5U) | (1U << 24U)) ==
          Texts{"clocksource", "steal_time", "clocksource_stable"});
    CHECK(kvm_feature_names((1U << 8U) | (1U << 31U)) == Texts{"bit_8", "bit_31"});
}

TEST_CASE("the counter's rate follows from crystal and ratio, or from the base frequency") {
    CHECK(rate_of_crystal({.eax = 2, .ebx = 216, .ecx = 24'000'000, .edx = 0})->khz == 2'592'000);
    CHECK_FALSE(rate_of_crystal({.eax = 2, .ebx = 216, .ecx = 0, .edx = 0}));
    CHECK_FALSE(rate_of_crystal({.eax = 0, .ebx = 216, .ecx = 24'000'000, .edx = 0}));
    CHECK(rate_of_base({.eax = 0xABCD0000U | 2600, .ebx = 0, .ecx = 0, .edx = 0})->khz == 2'600'000);
    CHECK_FALSE(rate_of_base({}));
}

}  // namespace
