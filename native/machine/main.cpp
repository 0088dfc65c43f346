// SPDX-License-Identifier: Apache-2.0
// What a machine really has, seen from inside: one JSON object on one line. Whatever cannot be read is null.
//
//   kernel_release, kernel_command_line   texts
//   processors, memory_byte               numbers: online processors, MemTotal
//   clock_source, clock_sources           the one in use, and those the kernel could use
//   tsc_khz, tsc_khz_from                 rate of the time stamp counter, and who says so
//   hypervisor_bit                        whether the processor says that it is a guest's (CPUID 1, ECX 31)
//   hypervisor_signatures, kvm_features   texts; both null where the bit is not set
//   booted_on                             the kernel's word for what carries it: "KVM", "bare hardware"
//   steal_tick                            ticks that the kernel counted as stolen so far, of all processors
//   block_devices, network_interfaces     [{name, drivers, buses}], from the device itself up to the root
//   virtio_devices                        [{name, id, driver}], id as in the virtio standard: 1 network, 2
//   block pci_devices                           [{address, id, driver}], id as vendor:device modules names of
//   the loaded ones
#include <unistd.h>

#include <chrono>
#include <exception>
#include <filesystem>

#include "common/exec.hpp"
#include "common/json.hpp"
#include "common/system.hpp"
#include "machine/devices.hpp"
#include "machine/kernel.hpp"
#include "machine/kernel_log.hpp"
#include "machine/processor.hpp"

namespace {

using namespace tare;

constexpr std::chrono::seconds output_limit{10};

void add_clock(JsonObject& facts, const std::filesystem::path& root, const machine::KernelLog& log) {
    const auto rate = log.tsc_rate ? log.tsc_rate : machine::tsc_rate();
    facts.add("clock_source", machine::clock_source(root)).add("clock_sources", machine::clock_sources(root));
    facts.add("tsc_khz", rate ? std::optional{rate->khz} : std::nullopt);
    facts.add("tsc_khz_from", rate ? std::optional{rate->from} : std::nullopt);
}

void add_hypervisor(JsonObject& facts) {
    const auto found = machine::find_hypervisor();
    facts.add("hypervisor_bit", found.bit);
    facts.add("hypervisor_signatures", found.signatures).add("kvm_features", found.kvm_features);
}

void add_devices(JsonObject& facts, const std::filesystem::path& root) {
    facts.add("block_devices", machine::block_devices(root));
    facts.add("network_interfaces", machine::network_interfaces(root));
    facts.add("virtio_devices", machine::virtio_devices(root));
    facts.add("pci_devices", machine::pci_devices(root));
}

std::string describe(const std::filesystem::path& root) {
    const auto log = machine::read_kernel_log(root);
    JsonObject facts;
    facts.add("kernel_release", machine::kernel_release(root));
    facts.add("kernel_command_line", machine::command_line(root));
    facts.add("processors", machine::online_processors(root)).add("memory_byte", machine::memory_byte(root));
    add_clock(facts, root, log);
    add_hypervisor(facts);
    facts.add("booted_on", log.booted_on).add("steal_tick", machine::steal_tick(root));
    add_devices(facts, root);
    facts.add("modules", machine::modules(root));
    return facts.text();
}

}  // namespace

int main() {
    try {
        return write_all(STDOUT_FILENO, describe("/") + '\n', output_limit) ? 0 : exit_cannot_prepare;
    } catch (const std::exception& error) {
        complain("machine", error.what());
    }
    return exit_cannot_prepare;
}
