// SPDX-License-Identifier: Apache-2.0
// The functions of the program's own MPI, which this library stands before.
#pragma once

#include <array>
#include <atomic>
#include <string_view>

#include "profile/call.hpp"

namespace tare::profile {

/// The name by which the program called. Fortran's wrappers call by PMPI_, and so do other tools in between.
enum class Layer : std::uint8_t { mpi, pmpi };

/// What comes after this library under `name`; null if nothing does.
[[nodiscard]] void* find_next(const char* name);

/// A variable of MPI's; null if there is none. The program itself may hold it: what is not compiled to be
/// moved gets copies of a library's variables, which the library then uses too.
[[nodiscard]] void* find_variable(const char* name);

/// The same for a call of the table, which must be there; looked up once.
[[nodiscard]] void* next_address(Call call, Layer layer);

template <typename Function>
[[nodiscard]] Function* next_function(Call call, Layer layer) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): what dlsym(3) finds is a function
    return reinterpret_cast<Function*>(next_address(call, layer));
}

}  // namespace tare::profile
