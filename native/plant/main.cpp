// SPDX-License-Identifier: Apache-2.0
// What `tare calibrate` plants its truths with: plant work ITERATIONS, with TARE_PLANT more of them (0.05 is
// 5 % more, -1 none at all); plant transfer BYTES, over one TCP connection of the loopback device.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/json.hpp"
#include "common/number.hpp"
#include "common/printed.hpp"
#include "common/work.hpp"
#include "plant/transfer.hpp"

namespace {

constexpr double most_more = 1000.0;

double planted() {
    const char* const text = std::getenv("TARE_PLANT");  // NOLINT(concurrency-mt-unsafe): there is one thread
    if (text == nullptr) {
        return 0.0;
    }
    const auto more = tare::parse_number<double>(text);
    if (!more || !(*more >= -1.0 && *more <= most_more)) {
        throw std::invalid_argument("TARE_PLANT is '" + std::string{text} +
                                    "', and no number from -1 to 1000");
    }
    return *more;
}

std::string work(std::uint64_t iterations) {
    const auto scaled =
        static_cast<std::uint64_t>(std::llround(static_cast<double>(iterations) * (1.0 + planted())));
    const auto done = tare::do_work(scaled);
    return "worked " + std::to_string(scaled) + " iterations: " + std::to_string(done.state) + ' ' +
           tare::json_number(done.sum) + '\n';
}

std::string transfer(std::uint64_t size_byte) {
    const auto received = tare::plant::transfer(size_byte);
    if (received.size_byte != size_byte) {
        throw std::runtime_error("only " + std::to_string(received.size_byte) + " bytes came through");
    }
    return "transferred " + std::to_string(size_byte) + " byte: " + std::to_string(received.checksum) + '\n';
}

std::string run(std::span<char* const> arguments) {
    constexpr std::size_t needed = 3;
    constexpr std::uint64_t most = std::uint64_t{1} << 50U;
    const auto amount =
        arguments.size() == needed ? tare::parse_number<std::uint64_t>(arguments[2]) : std::nullopt;
    const std::string_view what = amount ? arguments[1] : "";
    if (!amount || *amount == 0 || *amount > most || (what != "work" && what != "transfer")) {
        throw std::invalid_argument("write: plant work ITERATIONS, or: plant transfer BYTES");
    }
    return what == "work" ? work(*amount) : transfer(*amount);
}

}  // namespace

int main(int argc, char** argv) {
    return tare::print_composed("plant", run, {argv, static_cast<std::size_t>(argc)});
}
