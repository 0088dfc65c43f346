// SPDX-License-Identifier: Apache-2.0
#include "fake/state.hpp"

#include <cmath>
#include <fstream>
#include <ios>

namespace tare::fake {

unsigned runs_before(const std::string& file) {
    std::ofstream opened{file, std::ios::binary | std::ios::app};
    opened.seekp(0, std::ios::end);
    const auto before = static_cast<long long>(opened.tellp());
    opened.put('r');
    return opened.flush() && before > 0 ? static_cast<unsigned>(before) : 0;
}

double grown(double slowdown, double accumulate, unsigned runs) {
    return (1.0 + slowdown) * std::pow(1.0 + accumulate, runs) - 1.0;
}

}  // namespace tare::fake
