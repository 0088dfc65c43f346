// SPDX-License-Identifier: Apache-2.0
#include "fake/slices.hpp"

#include <cmath>
#include <cstdint>
#include <string>

#include "common/exec.hpp"
#include "common/system.hpp"
#include "fake/behaviour.hpp"

namespace tare::fake {

int serve_slices(const Options& options, std::istream& tokens, std::ostream& answers) {
    constexpr double nanosecond_per_second = 1e9;
    std::string piece;
    std::uint64_t count = 0;
    auto own = options;
    for (std::uint64_t turn = 0; tokens >> piece >> count; ++turn) {
        if (turn == 1 && options.behaviour != Behaviour::ok) {
            return act(options);
        }
        if (options.seed) {
            own.seed = *options.seed + turn;
        }
        const double wall_ns = drawn_value(own) * static_cast<double>(count) * nanosecond_per_second;
        answers << "slice " << std::llround(wall_ns) << " - - " << count << '\n' << std::flush;
    }
    if (!tokens.eof()) {
        complain("fake", "a token is not PIECE COUNT");
        return exit_wrong_use;
    }
    return 0;
}

}  // namespace tare::fake
