// SPDX-License-Identifier: Apache-2.0
// The functions of the program's own MPI, which this library stands before.
#pragma once

#include <array>
#include <atomic>
#include <span>

#include "profile/call.hpp"
#include "profile/library/frame.hpp"

namespace tare::profile {

/// The name by which the program called. Fortran's wrappers call by PMPI_, and so do other tools in between.
enum class Layer : std::uint8_t { mpi, pmpi };

/// What comes after this library under `name`; null if nothing does.
[[nodiscard]] void* find_next(const char* name);

/// A variable of MPI's; null if there is none. The program itself may hold it: what is not compiled to be
/// moved gets copies of a library's variables, which the library then uses too.
[[nodiscard]] void* find_variable(const char* name);

/// What is known of all calls by one name, side by side: what lies elsewhere takes another line of the cache.
struct Way {
    /// What comes after this library; null until it has been looked up.
    std::atomic<void*> next{nullptr};
    /// Of the interface for Fortran that called last.
    std::atomic<Frame> frame{};
};

[[nodiscard]] inline Way& way_of(Call call, Layer layer) {
    static constinit std::array<Way, 2 * call_count> ways;
    return std::span{ways}[static_cast<std::size_t>(layer) * call_count + index_of(call)];
}

/// Looks for what must be there, and keeps it.
[[nodiscard]] void* look_up_next(Call call, Layer layer);

/// What comes next for a call of the table.
[[nodiscard]] inline void* next_address(Call call, Layer layer) {
    void* const known = way_of(call, layer).next.load(std::memory_order_relaxed);
    return known != nullptr ? known : look_up_next(call, layer);
}

template <typename Function>
[[nodiscard]] Function* next_function(Call call, Layer layer) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): what dlsym(3) finds is a function
    return reinterpret_cast<Function*>(next_address(call, layer));
}

}  // namespace tare::profile
