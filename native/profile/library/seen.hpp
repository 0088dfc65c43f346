// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A function that stands before MPI's of the same name; all others of this library are hidden.
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): a language linkage and an attribute have no other short form
#define TARE_SEEN extern "C" [[gnu::visibility("default")]]
