// SPDX-License-Identifier: Apache-2.0
#include "npb/ft/plan.hpp"

#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "npb/ft/pencils.hpp"

namespace tare::npb::ft {

namespace {

constexpr int larger_radix = 8;
constexpr int smaller_radix = 4;

/// Eights where possible, but fours, whose twiddles cost less, never last.
std::vector<int> radices_of(int length) {
    constexpr int bits_of_eight = 3;
    const int bits = std::countr_zero(static_cast<unsigned>(length));
    int fours = (bits_of_eight - bits % bits_of_eight) % bits_of_eight;
    int eights = (bits - 2 * fours) / bits_of_eight;
    std::vector<int> radices;
    const bool begins_with_eight = eights > 1;
    if (begins_with_eight) {
        radices.push_back(larger_radix);
        --eights;
    }
    radices.insert(radices.end(), static_cast<std::size_t>(fours), smaller_radix);
    radices.insert(radices.end(), static_cast<std::size_t>(eights), larger_radix);
    return radices;
}

std::vector<double> twiddles_of(int radix, int next) {
    std::vector<double> table;
    for (int element = 0; element < next; ++element) {
        for (int part = 1; part < radix; ++part) {
            const auto root = root_of_unity(std::int64_t{element} * part, std::int64_t{radix} * next);
            table.push_back(root.real());
            table.push_back(root.imag());
        }
    }
    return table;
}

/// Each pass leaves part k of a stretch with the elements k, k + radix and so on of the stretch.
std::vector<std::ptrdiff_t> positions_of(const std::vector<int>& radices) {
    std::vector<std::ptrdiff_t> positions{0};
    std::ptrdiff_t step = 1;
    for (std::size_t pass = 0; pass + 1 < radices.size(); ++pass) {
        std::vector<std::ptrdiff_t> finer;
        for (const auto position : positions) {
            for (int part = 0; part < radices[pass]; ++part) {
                finer.push_back(position + part * step);
            }
        }
        positions = finer;
        step *= radices[pass];
    }
    return positions;
}

}  // namespace

std::complex<double> root_of_unity(std::int64_t index, std::int64_t length) {
    constexpr double two_pi = -2.0 * std::numbers::pi;
    return std::polar(1.0, two_pi * static_cast<double>(index % length) / static_cast<double>(length));
}

std::vector<double*> blocks_from(double* place, int count) {
    std::vector<double*> blocks(static_cast<std::size_t>(count));
    for (double*& block : blocks) {
        block = place;
        place += block_doubles;
    }
    return blocks;
}

LinePlan::LinePlan(int length) {
    const auto radices = radices_of(length);
    line_ = {.length = length, .passes = static_cast<int>(radices.size())};
    positions_ = positions_of(radices);
    int next = length;
    for (std::size_t pass = 0; pass < radices.size(); ++pass) {
        next /= radices[pass];
        twiddles_.push_back(twiddles_of(radices[pass], next));
        line_.pass[pass] = {.radix = radices[pass], .next = next, .twiddle = twiddles_.back().data()};
    }
    line_.position = positions_.data();
}

RowPlan::RowPlan(int length)
    : lane_plan_{length / int{block_points}}, lane_twiddle_{static_cast<std::size_t>(2 * length)} {
    const auto table = lane_twiddle_.span();
    for (int point = 0; point < length / block_points; ++point) {
        for (int lane = 0; lane < block_points; ++lane) {
            const auto root = root_of_unity(std::int64_t{point} * lane, length);
            const auto place = static_cast<std::size_t>(point * block_doubles + lane);
            table[place] = root.real();
            table[place + block_points] = root.imag();
        }
    }
}

}  // namespace tare::npb::ft
