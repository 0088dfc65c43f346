// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tare::hpl {

/// The routines of BLAS that Linpack needs, by Fortran's convention: every argument is a pointer, matrices
/// lie column by column. A matrix is its first element, then the distance of its columns.
struct Blas {
    using Word = const char*;
    using Count = const int*;
    using Number = const double*;

    /// target = beta target + alpha left right: dgemm.
    void (*gemm)(Word transpose_left, Word transpose_right, Count rows, Count columns, Count inner,
                 Number alpha, Number left, Count left_lead, Number right, Count right_lead, Number beta,
                 double* target, Count target_lead) = nullptr;
    /// Solves with a triangle, in the place of the right sides: dtrsm.
    void (*trsm)(Word side, Word part, Word transpose, Word diagonal, Count rows, Count columns, Number alpha,
                 Number triangle, Count triangle_lead, double* target, Count target_lead) = nullptr;
    /// target = beta target + alpha matrix vector: dgemv.
    void (*gemv)(Word transpose, Count rows, Count columns, Number alpha, Number matrix, Count lead,
                 Number vector, Count vector_step, Number beta, double* target, Count target_step) = nullptr;
};

/// The functions of the library that a dynamic program gets here. Throws `std::runtime_error` where there is
/// none.
[[nodiscard]] Blas load_blas();

}  // namespace tare::hpl
