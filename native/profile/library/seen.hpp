// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profile/library/abi.hpp"

// NOLINTBEGIN(cppcoreguidelines-macro-usage): a name, a language linkage and an attribute have no other short
// form

/// Begins a function that stands before MPI's of the same name; all others of this library are hidden. Its
/// own name is another one, as its arguments' types may differ from those that mpi.h declares.
#define TARE_SEEN(name, parameters)                                                      \
    extern "C" [[gnu::visibility("default")]] int tare_##name parameters __asm__(#name); \
    extern "C" int tare_##name parameters

// NOLINTEND(cppcoreguidelines-macro-usage)
