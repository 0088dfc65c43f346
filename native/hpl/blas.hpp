// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tare::hpl {

/// The routines of BLAS that Linpack needs, by Fortran's convention: every argument is a pointer, matrices
/// lie column by column.
struct Blas {
    using Word = const char*;
    using Count = const int*;
    using Number = const double*;

    void (*gemm)(Word transpose_a, Word transpose_b, Count m, Count n, Count k, Number alpha, Number a,
                 Count lead_a, Number b, Count lead_b, Number beta, double* c, Count lead_c) = nullptr;
    void (*trsm)(Word side, Word part, Word transpose, Word diagonal, Count m, Count n, Number alpha,
                 Number a, Count lead_a, double* b, Count lead_b) = nullptr;
    void (*gemv)(Word transpose, Count m, Count n, Number alpha, Number a, Count lead_a, Number x,
                 Count step_x, Number beta, double* y, Count step_y) = nullptr;
};

/// Those of the library that a dynamic program gets here. Throws `std::runtime_error` where there is none.
[[nodiscard]] Blas load_blas();

}  // namespace tare::hpl
