// SPDX-License-Identifier: Apache-2.0
#include "npb/cg/solve.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tare::npb::cg {

Solver::Solver(Multiply& multiply, const Exchange& exchange, const VectorOperations& vectors,
               const GridShare& share, double shift, int steps)
    : multiply_{&multiply},
      exchange_{&exchange},
      vectors_{vectors},
      shift_{shift},
      steps_{steps},
      x_{static_cast<std::size_t>(share.own.count)},
      z_{x_.size()},
      residual_{x_.size()},
      product_{x_.size()},
      gathered_{static_cast<std::size_t>(share.gathered_count())} {
    restart();
}

void Solver::restart() { std::ranges::fill(x_.span(), 1.0); }

double Solver::sum(double number, PartTimes& times) const {
    return times.time(Part::exchange, [&] { return exchange_->sum(number); });
}

/// residual = x - A z and the direction follow the recurrences of Hestenes and Stiefel.
double Solver::solve(PartTimes& times) {
    std::ranges::fill(z_.span(), 0.0);
    std::ranges::copy(x_.span(), residual_.data());
    std::ranges::copy(x_.span(), direction().data());
    double square = sum(vectors_.dot(x_.span(), x_.span()), times);
    for (int step = 0; step < steps_; ++step) {
        (*multiply_)(gathered_.span(), product_.span(), times);
        const double curvature =
            times.time(Part::update, [&] { return vectors_.dot(direction(), product_.span()); });
        const double alpha = square / sum(curvature, times);
        const double reduced = times.time(
            Part::update, [&] { return vectors_.reduce_residual(alpha, product_.span(), residual_.span()); });
        const double before = square;
        square = sum(reduced, times);
        times.time(Part::update, [&] {
            vectors_.advance(alpha, square / before, residual_.span(), z_.span(), direction());
        });
    }
    return std::sqrt(square);
}

Estimate Solver::step(PartTimes& times) {
    const int products_before = multiply_->products();
    const double recurrence_residual = solve(times);
    std::ranges::copy(z_.span(), direction().data());
    (*multiply_)(gathered_.span(), product_.span(), times);
    const auto own = vectors_.outer_sums(x_.span(), z_.span(), product_.span());
    std::array sums{own.residual, own.estimate, own.square};
    times.time(Part::exchange, [&] { exchange_->sum_outer(sums); });
    const auto [residual, estimate, square] = sums;
    vectors_.scale(1.0 / std::sqrt(square), z_.span(), x_.span());
    return {.zeta = shift_ + 1.0 / estimate,
            .residual = std::sqrt(residual),
            .recurrence_residual = recurrence_residual,
            .products = multiply_->products() - products_before};
}

}  // namespace tare::npb::cg
