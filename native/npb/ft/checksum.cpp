// SPDX-License-Identifier: Apache-2.0
#include "npb/ft/checksum.hpp"

#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>
#include <string>

#include "npb/ft/pencils.hpp"

namespace tare::npb::ft {

namespace {

constexpr int summands = 1024;

constexpr double tolerance = 1e-12;

/// One part of a checksum; its tolerance is that of the whole.
Check check_of_part(std::string name, double computed, double part, std::complex<double> whole) {
    return {.name = std::move(name),
            .computed = computed,
            .published = part,
            .tolerance = tolerance / std::numbers::sqrt2 * std::abs(whole) / std::abs(part)};
}

void add_published(std::vector<Check>& list, const std::string& name, std::complex<double> computed,
                   PublishedChecksum published) {
    const std::complex<double> whole{published.re, published.im};
    list.push_back(check_of_part(name + " re", computed.real(), whole.real(), whole));
    list.push_back(check_of_part(name + " im", computed.imag(), whole.imag(), whole));
}

void add_unknown(std::vector<Check>& list, const std::string& name, std::complex<double> computed) {
    list.push_back({.name = name + " re", .computed = computed.real()});
    list.push_back({.name = name + " im", .computed = computed.imag()});
}

}  // namespace

Checksum::Checksum(const Fft3d& fft, const Edges& edges) : scale_{1.0 / edges.points()} {
    for (int number = 1; number <= summands; ++number) {
        const int x = number % edges.x;
        const int y = 3 * number % edges.y;
        const int z = 5 * number % edges.z;
        if (fft.has_row(y, z)) {
            points_.push_back(fft.point(x, y, z));
        }
    }
    values_.resize(points_.size());
}

std::complex<double> Checksum::here(Team& team) {
    team.run([&](int thread) {
        const auto part = team.part(thread, points_.size());
        for (std::size_t number = part.first; number < part.end(); ++number) {
            values_[number] = {points_[number][0], points_[number][block_points]};
        }
    });
    return scale_ * std::accumulate(values_.begin(), values_.end(), std::complex<double>{});
}

const Class& class_of(ProblemClass name) { return find_class<Class>(classes, name, "FT"); }

std::vector<Check> checks(const Arguments& arguments, std::span<const std::complex<double>> checksums) {
    const auto published = class_of(arguments.problem_class).checksums;
    std::vector<Check> list;
    for (std::size_t iteration = 0; iteration < checksums.size(); ++iteration) {
        const std::string name = "checksum " + std::to_string(iteration + 1);
        if (arguments.is_published()) {
            add_published(list, name, checksums[iteration], published[iteration]);
        } else {
            add_unknown(list, name, checksums[iteration]);
        }
    }
    return list;
}

}  // namespace tare::npb::ft
