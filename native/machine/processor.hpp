// SPDX-License-Identifier: Apache-2.0
// What the processor says of itself by the instruction CPUID. Elsewhere than on x86 there is no such
// instruction, and nothing is found.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machine/kernel_log.hpp"

namespace tare::machine {

/// What CPUID leaves in the registers.
struct Registers {
    std::uint32_t eax = 0;
    std::uint32_t ebx = 0;
    std::uint32_t ecx = 0;
    std::uint32_t edx = 0;
};

struct Hypervisor {
    std::optional<bool> bit;
    /// Of every interface that the hypervisor offers, in their order: it may play another one first.
    std::optional<std::vector<std::string>> signatures;
    std::optional<std::vector<std::string>> kvm_features;
};

[[nodiscard]] Hypervisor find_hypervisor();

/// What CPUID says of the counter's rate.
[[nodiscard]] std::optional<TscRate> tsc_rate();

/// Twelve bytes in EBX, ECX and EDX, with zeros at the end cut off.
[[nodiscard]] std::string signature_of(const Registers& registers);

/// Names of the features in EAX of KVM's leaf 1 (Documentation/virt/kvm/x86/cpuid.rst); a bit without a name
/// there is called by its number.
[[nodiscard]] std::vector<std::string> kvm_feature_names(std::uint32_t bits);

/// Of leaf 0x15: the crystal's rate in Hz (ECX) times EBX / EAX (Intel SDM, volume 2, CPUID).
[[nodiscard]] std::optional<TscRate> rate_of_crystal(const Registers& leaf);

/// Of leaf 0x16: the processor's base frequency in MHz (EAX, bits 0 to 15), which is the counter's.
[[nodiscard]] std::optional<TscRate> rate_of_base(const Registers& leaf);

}  // namespace tare::machine
