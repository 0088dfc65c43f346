// SPDX-License-Identifier: Apache-2.0
#include "npb/sp/matrices.hpp"

#include "npb/flow/field.hpp"

namespace tare::npb::sp {

namespace {

std::vector<flow::FourthDifference> weights(const flow::Extent& extent, double time_step) {
    std::vector<flow::FourthDifference> found;
    for (int place = 0; place < extent.count; ++place) {
        found.push_back(flow::fourth_difference(extent.first + place, extent.edge));
        for (double& weight : found.back().weight) {
            weight *= time_step * flow::fourth_dissipation;
        }
    }
    return found;
}

}  // namespace

Matrices::Matrices(const flow::Block& block, double time_step)
    : weights_x_{weights(block.x, time_step)},
      weights_y_{weights(block.y, time_step)},
      weights_z_{weights(block.z, time_step)} {
    const double steps = block.x.edge - 1;
    const double diffusive = time_step * steps * steps;
    scheme_ = {.block = block,
               .width = flow::whole_vectors(block.x.count),
               .convection = time_step * steps / 2,
               .spread_xy = diffusive * flow::dissipation_x,
               .spread_z = diffusive * flow::dissipation_z,
               .conduction = diffusive * flow::viscosity * flow::conduction,
               .weight_x = weights_x_.data(),
               .weight_y = weights_y_.data(),
               .weight_z = weights_z_.data()};
}

}  // namespace tare::npb::sp
