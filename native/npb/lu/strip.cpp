// SPDX-License-Identifier: Apache-2.0
#include "npb/lu/strip.hpp"

#include <algorithm>
#include <span>

namespace tare::npb::lu {

namespace {

constexpr int derived_planes = 3;

}  // namespace

Strip::Strip(const Mesh& mesh, const residual::Functions& functions)
    : mesh_{mesh}, functions_{functions}, derived_{derived_planes * plane_numbers()}, own_waves_{2} {}

void Strip::begin(const Field& field) {
    derive(field, -1);
    derive(field, 0);
}

void Strip::residual(const Field& field, int z, const ResidualFactors& factors, GroupField& forcing,
                     GroupField& result) {
    derive(field, z + 1);
    const residual::Planes planes{.field = {field.plane(z - 2), field.plane(z - 1), field.plane(z),
                                            field.plane(z + 1), field.plane(z + 2)},
                                  .derived = {derived(z - 1), derived(z), derived(z + 1)}};
    functions_.residual(mesh_, factors, planes, forcing.plane(z).data(), result.plane(z).data());
}

void Strip::clear(std::span<double> passed) const {
    const std::span diagonals{mesh_.diagonals, static_cast<std::size_t>(mesh_.count)};
    const auto place = [&](int diagonal) {
        return diagonal == mesh_.count
                   ? passed.end()
                   : passed.begin() + diagonals[static_cast<std::size_t>(diagonal)].group_place;
    };
    std::fill(place(mesh_.first), place(mesh_.end), 0.0);
}

double* Strip::derived(int z) {
    const int turn = (z + derived_planes) % derived_planes;
    return &derived_.span()[static_cast<std::size_t>(turn) * plane_numbers()];
}

}  // namespace tare::npb::lu
