// SPDX-License-Identifier: Apache-2.0
#include "npb/ft/evolution.hpp"

#include <cmath>
#include <numbers>

namespace tare::npb::ft {

namespace {

constexpr double diffusivity = 1e-6;

std::vector<double> factors(int edge, int time) {
    constexpr double rate = 4.0 * diffusivity * std::numbers::pi * std::numbers::pi;
    std::vector<double> found;
    for (int number = 0; number < edge; ++number) {
        const double wave = number < edge / 2 ? number : number - edge;
        found.push_back(std::exp(-rate * wave * wave * time));
    }
    return found;
}

}  // namespace

Evolution::Evolution(const Edges& edges, int time)
    : x_{factors(edges.x, time)}, y_{factors(edges.y, time)}, z_{factors(edges.z, time)} {}

}  // namespace tare::npb::ft
