// SPDX-License-Identifier: Apache-2.0
#include "slices/memory/memory.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <memory>
#include <numeric>
#include <stdexcept>

#include "common/processors.hpp"
#include "common/system.hpp"

namespace tare::slices {

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20U;

constexpr const char* numa_folder = "/sys/devices/system/node/";

/// Throws `std::invalid_argument` where there is no such NUMA node, or only one at all.
void refuse_absent(int node) {
    const auto online = read_text(std::string{numa_folder} + "online");
    if (!online) {
        throw std::invalid_argument("the kernel does not show its NUMA nodes here, so none can be chosen");
    }
    const auto nodes = parse_processor_list(trimmed(*online));
    if (nodes.size() < 2) {
        throw std::invalid_argument(
            "there is one NUMA node here, so none can be chosen; leave the option out");
    }
    if (std::ranges::find(nodes, node) == nodes.end()) {
        throw std::invalid_argument("there is no NUMA node " + std::to_string(node) + " here, only " +
                                    std::string{trimmed(*online)});
    }
}

void run_on(int node) {
    const auto list = read_text(std::string{numa_folder} + "node" + std::to_string(node) + "/cpulist");
    const auto own = ProcessorSet::of_caller();
    std::vector<int> processors;
    for (const int processor : parse_processor_list(trimmed(list.value_or("")))) {
        if (std::ranges::find(own, processor) != own.end()) {
            processors.push_back(processor);
        }
    }
    if (processors.empty()) {
        throw std::invalid_argument("none of the processors given to this program belongs to NUMA node " +
                                    std::to_string(node));
    }
    if (ProcessorSet{processors}.bind_caller() != 0) {
        throw_errno("cannot run on NUMA node " + std::to_string(node));
    }
}

/// mbind(2), which has no function in the C library.
void bind_to(void* begin, std::size_t size_byte, int node) {
    constexpr int only_there = 2;  // MPOL_BIND
    constexpr std::size_t word_bits = 64;
    const auto position = static_cast<std::size_t>(node);
    std::vector<std::uint64_t> mask(position / word_bits + 1);
    mask.back() = std::uint64_t{1} << (position % word_bits);
    if (::syscall(SYS_mbind, begin, size_byte, only_there, mask.data(), mask.size() * word_bits + 1, 0) !=
        0) {
        throw_errno("cannot have memory on NUMA node " + std::to_string(node) + " (mbind)");
    }
}

void advise(void* begin, std::size_t size_byte, bool huge) {
    if (::madvise(begin, size_byte, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) == 0) {
        return;
    }
    if (huge || errno != EINVAL) {  // a kernel without huge pages gives none anyway
        throw_errno(std::string{"cannot ask for "} + (huge ? "" : "no ") + "huge pages (madvise)");
    }
}

}  // namespace

Memory::Memory(const Placement& placement) : placement_{placement} {
    for (const auto node : {placement.numa_node, placement.processor_node}) {
        if (node) {
            refuse_absent(*node);
        }
    }
    if (placement.processor_node) {
        run_on(*placement.processor_node);
    }
}

void* Memory::map(std::size_t size_byte) {
    const std::size_t slack = size_byte >= huge_page ? huge_page : 0;
    void* begin =
        ::mmap(nullptr, size_byte + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (begin == MAP_FAILED) {
        throw_errno("cannot have " + std::to_string(size_byte) + " byte");
    }
    std::size_t space = size_byte + slack;
    if (slack != 0) {
        std::align(huge_page, size_byte, begin, space);
    }
    place(begin, size_byte);
    regions_.push_back({.begin = std::bit_cast<std::uintptr_t>(begin), .size_byte = size_byte});
    return begin;
}

void Memory::place(void* begin, std::size_t size_byte) const {
    if (placement_.huge_pages) {
        advise(begin, size_byte, *placement_.huge_pages);
    }
    if (placement_.numa_node) {
        bind_to(begin, size_byte, *placement_.numa_node);
    }
}

std::string Memory::evidence() const {
    if (regions_.empty()) {
        return {};
    }
    const auto total =
        std::accumulate(regions_.begin(), regions_.end(), std::uint64_t{0},
                        [](std::uint64_t sum, const Region& region) { return sum + region.size_byte; });
    const auto huge = huge_page_byte(read_text("/proc/self/smaps").value_or(""), regions_);
    std::string nodes;
    for (const auto& [node, bytes] : node_byte(read_text("/proc/self/numa_maps").value_or(""), regions_)) {
        nodes += (nodes.empty() ? "" : ",") + std::to_string(node) + ':' + std::to_string(bytes);
    }
    return "memory " + std::to_string(total) + " huge " + (huge ? std::to_string(*huge) : "-") + " nodes " +
           (nodes.empty() ? "-" : nodes);
}

}  // namespace tare::slices
