// SPDX-License-Identifier: Apache-2.0
#include "common/processors.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/number.hpp"
#include "common/system.hpp"

namespace tare {

namespace {

std::pair<int, int> parse_range(std::string_view text, std::string_view whole) {
    const auto dash = text.find('-');
    const auto first = parse_number<int>(text.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number<int>(text.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= ProcessorSet::capacity) {
        throw std::invalid_argument("'" + std::string{whole} +
                                    "' is not a list of processors; write such as 0-1,3");
    }
    return {*first, *last};
}

}  // namespace

ProcessorSet::ProcessorSet(const std::vector<int>& processors) {
    for (const int processor : processors) {
        CPU_SET_S(static_cast<std::size_t>(processor), sizeof bits_, bits_.data());
    }
}

int ProcessorSet::bind_caller() const { return ::sched_setaffinity(0, sizeof bits_, bits_.data()); }

std::vector<int> ProcessorSet::of_caller() {
    ProcessorSet allowed;
    if (::sched_getaffinity(0, sizeof allowed.bits_, allowed.bits_.data()) != 0) {
        throw_errno("cannot read the processors this process may use");
    }
    std::vector<int> processors;
    for (std::size_t processor = 0; processor < capacity; ++processor) {
        if (CPU_ISSET_S(processor, sizeof allowed.bits_, allowed.bits_.data())) {
            processors.push_back(static_cast<int>(processor));
        }
    }
    return processors;
}

std::vector<int> parse_processor_list(std::string_view text) {
    std::vector<int> processors;
    for (std::string_view rest = text;;) {
        const auto comma = rest.find(',');
        const auto [first, last] = parse_range(rest.substr(0, comma), text);
        for (int processor = first; processor <= last; ++processor) {
            processors.push_back(processor);
        }
        if (comma == std::string_view::npos) {
            break;
        }
        rest.remove_prefix(comma + 1);
    }
    std::sort(processors.begin(), processors.end());
    processors.erase(std::unique(processors.begin(), processors.end()), processors.end());
    return processors;
}

}  // namespace tare
