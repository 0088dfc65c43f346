// SPDX-License-Identifier: Apache-2.0
// Fixed work: burn ITERATIONS uses the processor alone; burn --touch BYTES uses memory.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/exec.hpp"
#include "common/json.hpp"
#include "common/number.hpp"
#include "common/system.hpp"

namespace {

constexpr std::string_view program = "burn";
constexpr std::chrono::seconds print_limit{10};

/// Two chains of dependent operations, integer and floating, each about four cycles long per iteration;
/// neither can be shortened by a vector unit or a compiler, and nothing leaves the registers.
std::string burn_processor(std::uint64_t iterations) {
    constexpr std::uint64_t multiplier = 6364136223846793005U;  // Knuth's MMIX generator, TAOCP vol. 2, 3.3.4
    constexpr std::uint64_t increment = 1442695040888963407U;
    constexpr unsigned top_bits = 33;
    std::uint64_t state = 1;
    double sum = 0.0;
    for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
        state = state * multiplier + increment;
        sum += static_cast<double>(static_cast<std::int64_t>(state >> top_bits));
    }
    return "burned " + std::to_string(iterations) + " iterations: " + std::to_string(state) + ' ' +
           tare::json_number(sum) + '\n';
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
    try {
        const auto result = burn({argv, static_cast<std::size_t>(argc)});
        return tare::write_all(STDOUT_FILENO, result, print_limit) ? 0 : 1;
    } catch (const std::invalid_argument& error) {
        tare::complain(program, error.what());
        return tare::exit_wrong_use;
    } catch (const std::exception& error) {
        tare::complain(program, error.what());
        return 1;
    }
}
