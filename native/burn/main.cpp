// SPDX-License-Identifier: Apache-2.0
// Fixed work: burn ITERATIONS uses the processor alone; burn --touch BYTES uses memory.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/json.hpp"
#include "common/number.hpp"
#include "common/printed.hpp"
#include "common/system.hpp"
#include "common/work.hpp"

namespace {

std::string burn_processor(std::uint64_t iterations) {
    const auto done = tare::do_work(iterations);
    return "burned " + std::to_string(iterations) + " iterations: " + std::to_string(done.state) + ' ' +
           tare::json_number(done.sum) + '\n';
}

std::string touch_memory(std::size_t size_byte) {
    void* const memory =
        ::mmap(nullptr, size_byte, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        tare::throw_errno("cannot have " + std::to_string(size_byte) + " byte");
    }
    const std::span<volatile char> bytes{static_cast<volatile char*>(memory), size_byte};
    const auto page_byte = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    for (std::size_t position = 0; position < size_byte; position += page_byte) {
        bytes[position] = 1;
    }
    return "touched " + std::to_string(size_byte) + " byte\n";
}

template <typename Number>
Number amount(std::string_view text) {
    const auto value = tare::parse_number<Number>(text);
    if (!value || *value == 0) {
        throw std::invalid_argument("'" + std::string{text} + "' is not a whole number above 0");
    }
    return *value;
}

std::string burn(std::span<char* const> arguments) {
    if (arguments.size() == 2) {
        return burn_processor(amount<std::uint64_t>(arguments[1]));
    }
    if (arguments.size() == 3 && std::string_view{arguments[1]} == "--touch") {
        return touch_memory(amount<std::size_t>(arguments[2]));
    }
    throw std::invalid_argument("write: burn ITERATIONS, or: burn --touch BYTES");
}

}  // namespace

int main(int argc, char** argv) {
    return tare::print_composed("burn", burn, {argv, static_cast<std::size_t>(argc)});
}
