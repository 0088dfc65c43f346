// SPDX-License-Identifier: Apache-2.0
#include "npb/cg/vector_operations.hpp"

namespace tare::npb::cg {

namespace {

/// The thread's part of a vector.
template <typename Number>
std::span<Number> cut(const Team& team, int thread, std::span<Number> vector) {
    const Share<int> part = team.part(thread, static_cast<int>(vector.size()));
    return vector.subspan(static_cast<std::size_t>(part.first), static_cast<std::size_t>(part.count));
}

}  // namespace

double VectorOperations::dot(std::span<const double> left, std::span<const double> right) const {
    return team_->sum([&](int thread) {
        const auto mine = cut(*team_, thread, left);
        return functions_.dot(mine.size(), mine.data(), cut(*team_, thread, right).data());
    });
}

double VectorOperations::reduce_residual(double alpha, std::span<const double> product,
                                         std::span<double> residual) const {
    return team_->sum([&](int thread) {
        const auto mine = cut(*team_, thread, residual);
        return functions_.reduce_residual(mine.size(), alpha, cut(*team_, thread, product).data(),
                                          mine.data());
    });
}

void VectorOperations::advance(double alpha, double beta, std::span<const double> residual,
                               std::span<double> solution, std::span<double> direction) const {
    team_->run([&](int thread) {
        const auto mine = cut(*team_, thread, solution);
        functions_.advance(mine.size(), alpha, beta, cut(*team_, thread, residual).data(), mine.data(),
                           cut(*team_, thread, direction).data());
    });
}

void VectorOperations::scale(double factor, std::span<const double> from, std::span<double> target) const {
    functions_.scale(from.size(), factor, from.data(), target.data());
}

vector_kernels::OuterSums VectorOperations::outer_sums(std::span<const double> right_side,
                                                       std::span<const double> solution,
                                                       std::span<const double> product) const {
    return functions_.outer_sums(right_side.size(), right_side.data(), solution.data(), product.data());
}

}  // namespace tare::npb::cg
