// The matrix product of a BLAS library, which the bindings take from SciPy at import (nothing is linked).
//
// A BLAS may use threads of its own for large products. So products are divided into blocks that OpenBLAS
// computes on one thread (at most 2^18 multiplications: `interface/gemm.c` there); with blocks of 32 x 32
// inner products over 256 numbers it still reaches its full speed. The caller's threads share the blocks, and
// the result does not depend on the number of threads.
#pragma once
#include "core/design/fiber.hpp"

namespace southwell::blas {

// C = alpha op(A) op(B) + beta C, by columns, as in the reference BLAS
using Gemm = void(char* op_a, char* op_b, int* m, int* n, int* k, double* alpha, double* a, int* lda,
                  double* b, int* ldb, double* beta, double* c, int* ldc);
inline Gemm* gemm = nullptr; // null: inner products are computed one by one

inline constexpr Index lines = 32, length = 256; // of a block

// to[r * stride + c] += sign <left_r, right_c> for the lines left_r = left + r * left_stride and right_c
// alike, of `numbers` numbers each; at most `lines` of either.
inline void add_block(const Real* left, Index left_stride, Index rows, const Real* right, Index right_stride,
                      Index columns, Index numbers, Real sign, Real* to, Index stride) {
  if (!gemm || rows < 4 || columns < 4) {
    for (Index r = 0; r < rows; ++r)
      for (Index c = 0; c < columns; ++c)
        to[r * stride + c] += sign * kernels::dot(left + r * left_stride, right + c * right_stride, numbers);
    return;
  }
  char transposed = 'T', plain = 'N';
  int m = int(columns), n = int(rows), lda = int(right_stride), ldb = int(left_stride), ldc = int(stride);
  double one = 1;
  for (Index from = 0; from < numbers; from += length) {
    int k = int(std::min(length, numbers - from));
    // The reference interface takes pointers to non-const, also for inputs.
    gemm(&transposed, &plain, &m, &n, &k, &sign, const_cast<Real*>(right + from), &lda,
         const_cast<Real*>(left + from), &ldb, &one, to, &ldc);
  }
}

} // namespace southwell::blas
