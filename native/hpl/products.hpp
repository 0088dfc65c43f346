// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/blas.hpp"
#include "hpl/view.hpp"

namespace tare::hpl {

constexpr double plus_one = 1.0;
constexpr double minus_one = -1.0;

/// c -= a b, or a bᵀ; c is `rows` by `columns`.
struct Product {
    int rows = 0;
    int columns = 0;
    int inner = 0;
    bool transposed = false;

    void subtract(const Blas& blas, const View& a, const View& b, const View& c) const {
        if (rows > 0 && columns > 0 && inner > 0) {
            blas.gemm("N", transposed ? "T" : "N", &rows, &columns, &inner, &minus_one, a.values.data(),
                      &a.lead, b.values.data(), &b.lead, &plus_one, c.values.data(), &c.lead);
        }
    }
};

}  // namespace tare::hpl
