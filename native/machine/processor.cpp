// SPDX-License-Identifier: Apache-2.0
#include "machine/processor.hpp"

#include <array>
#include <string_view>
#include <utility>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

namespace tare::machine {

namespace {

constexpr unsigned byte_bits = 8;
constexpr unsigned register_bits = 32;
constexpr std::uint32_t byte_mask = 0xFF;
constexpr std::uint32_t first_hypervisor_leaf = 0x40000000;  // further interfaces follow, each 0x100 on
constexpr std::uint32_t last_hypervisor_leaf = 0x40000F00;
constexpr std::uint32_t hypervisor_step = 0x100;
constexpr std::string_view kvm_signature = "KVMKVMKVM";

constexpr std::array<std::pair<unsigned, std::string_view>, 17> kvm_names{{
    {0, "clocksource"},
    {1, "nop_io_delay"},
    {2, "mmu_op"},
    {3, "clocksource2"},
    {4, "async_pf"},
    {5, "steal_time"},
    {6, "pv_eoi"},
    {7, "pv_unhalt"},
    {9, "pv_tlb_flush"},
    {10, "async_pf_vmexit"},
    {11, "pv_send_ipi"},
    {12, "poll_control"},
    {13, "pv_sched_yield"},
    {14, "async_pf_int"},
    {15, "msi_ext_dest_id"},
    {16, "hc_map_gpa_range"},
    {24, "clocksource_stable"},
}};

std::string kvm_feature_name(unsigned bit) {
    for (const auto& [known, name] : kvm_names) {
        if (known == bit) {
            return std::string{name};
        }
    }
    return "bit_" + std::to_string(bit);
}

#if defined(__x86_64__) || defined(__i386__)

/// Nothing for a leaf of the basic range that the processor has not.
std::optional<Registers> basic_leaf(std::uint32_t leaf) {
    Registers found;
    const int known = __get_cpuid_count(leaf, 0, &found.eax, &found.ebx, &found.ecx, &found.edx);
    return known != 0 ? std::optional{found} : std::nullopt;
}

/// A leaf of the hypervisor's range, for which CPUID tells no limit. Of no meaning unless its bit is set.
std::optional<Registers> hypervisor_leaf(std::uint32_t leaf) {
    Registers found;
    __cpuid_count(leaf, 0, found.eax, found.ebx, found.ecx, found.edx);
    return found;
}

#else

std::optional<Registers> basic_leaf(std::uint32_t /*leaf*/) { return std::nullopt; }
std::optional<Registers> hypervisor_leaf(std::uint32_t /*leaf*/) { return std::nullopt; }

#endif

/// The bit that processors leave 0 and hypervisors set.
std::optional<bool> hypervisor_bit() {
    constexpr unsigned bit = 31;
    const auto leaf = basic_leaf(1);
    return leaf ? std::optional{((leaf->ecx >> bit) & 1U) != 0} : std::nullopt;
}

/// An interface starts with the highest of its leaves, which is at least the first, and its signature.
bool is_interface(std::uint32_t leaf, const Registers& registers) {
    return registers.eax >= leaf && registers.eax < leaf + hypervisor_step;
}

/// KVM writes 0 for its highest leaf where it means 1 (Documentation/virt/kvm/x86/cpuid.rst).
bool is_old_kvm(const Registers& registers) {
    return registers.eax == 0 && signature_of(registers) == kvm_signature;
}

void add_interface(Hypervisor& hypervisor, std::uint32_t leaf, const Registers& registers) {
    hypervisor.signatures->push_back(signature_of(registers));
    if (signature_of(registers) == kvm_signature) {
        hypervisor.kvm_features = kvm_feature_names(hypervisor_leaf(leaf + 1).value_or(Registers{}).eax);
    }
}

std::optional<TscRate> rate_of(double khz, std::string_view from) {
    if (!(khz > 0)) {
        return std::nullopt;
    }
    return TscRate{.khz = static_cast<std::uint64_t>(khz), .from = std::string{from}};
}

}  // namespace

std::string signature_of(const Registers& registers) {
    std::string text;
    for (const std::uint32_t part : {registers.ebx, registers.ecx, registers.edx}) {
        for (unsigned shift = 0; shift < register_bits; shift += byte_bits) {
            text += static_cast<char>((part >> shift) & byte_mask);
        }
    }
    return text.substr(0, text.find_last_not_of('\0') + 1);
}

std::vector<std::string> kvm_feature_names(std::uint32_t bits) {
    std::vector<std::string> names;
    for (unsigned bit = 0; bit < register_bits; ++bit) {
        if (((bits >> bit) & 1U) != 0) {
            names.push_back(kvm_feature_name(bit));
        }
    }
    return names;
}

std::optional<TscRate> rate_of_crystal(const Registers& leaf) {
    constexpr double hz_per_khz = 1000;
    if (leaf.eax == 0) {
        return std::nullopt;
    }
    const double ratio = static_cast<double>(leaf.ebx) / static_cast<double>(leaf.eax);
    return rate_of(static_cast<double>(leaf.ecx) * ratio / hz_per_khz, "CPUID 0x15: crystal");
}

std::optional<TscRate> rate_of_base(const Registers& leaf) {
    constexpr std::uint32_t low_half = 0xFFFF;
    constexpr double khz_per_mhz = 1000;
    return rate_of(static_cast<double>(leaf.eax & low_half) * khz_per_mhz, "CPUID 0x16: base frequency");
}

Hypervisor find_hypervisor() {
    Hypervisor hypervisor{.bit = hypervisor_bit(), .signatures = std::nullopt, .kvm_features = std::nullopt};
    if (!hypervisor.bit.value_or(false)) {
        return hypervisor;
    }
    hypervisor.signatures.emplace();
    for (auto leaf = first_hypervisor_leaf; leaf <= last_hypervisor_leaf; leaf += hypervisor_step) {
        const auto registers = hypervisor_leaf(leaf);
        if (registers && (is_interface(leaf, *registers) || is_old_kvm(*registers))) {
            add_interface(hypervisor, leaf, *registers);
        }
    }
    return hypervisor;
}

std::optional<TscRate> tsc_rate() {
    constexpr std::uint32_t crystal_leaf = 0x15;
    constexpr std::uint32_t base_leaf = 0x16;
    const auto crystal = basic_leaf(crystal_leaf);
    const auto base = basic_leaf(base_leaf);
    const auto found = crystal ? rate_of_crystal(*crystal) : std::nullopt;
    return found || !base ? found : rate_of_base(*base);
}

}  // namespace tare::machine
