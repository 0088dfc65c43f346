// SPDX-License-Identifier: Apache-2.0
// For hot sources alone: the vectors of the variant that is compiled.
#pragma once

namespace tare::npb {

#if defined(__AVX512F__)
constexpr int vector_byte = 64;
#elif defined(__AVX__)
constexpr int vector_byte = 32;
#else
constexpr int vector_byte = 16;
#endif
constexpr int vector_doubles = vector_byte / sizeof(double);

}  // namespace tare::npb
