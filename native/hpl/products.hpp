// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/blas.hpp"
#include "hpl/view.hpp"

namespace tare::hpl {

constexpr double plus_one = 1.0;
constexpr double minus_one = -1.0;

/// target -= left right, or left rightᵀ; the target is `rows` by `columns`.
struct Product {
    int rows = 0;
    int columns = 0;
    int inner = 0;
    bool transposed = false;

    void subtract(const Blas& blas, const View& left, const View& right, const View& target) const {
        if (rows > 0 && columns > 0 && inner > 0) {
            blas.gemm("N", transposed ? "T" : "N", &rows, &columns, &inner, &minus_one, left.values.data(),
                      &left.lead, right.values.data(), &right.lead, &plus_one, target.values.data(),
                      &target.lead);
        }
    }
};

}  // namespace tare::hpl
