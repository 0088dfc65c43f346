// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tare::profile {

/// The part of a rank's time that a call counts for; what is in none of them is computing.
enum class Share : std::uint8_t { init, communication, io };

// NOLINTBEGIN(cppcoreguidelines-macro-usage): the table of calls is read three times, each time for something
// else

/// Every call that is measured, by the name that follows `MPI_`.
enum class Call : std::int16_t {
#define TARE_MPI_CALL(share, name, ...) name,
#define TARE_MPI_PAIR(share, waiting, begun, ...) waiting, begun,
#include "profile/table/all.inc"
#undef TARE_MPI_CALL
#undef TARE_MPI_PAIR
    none
};

/// What a profile says of a call beside what it counted.
struct CallEntry {
    std::string_view name;
    Share share;
    /// Whether it returns before what it begins is done.
    bool is_begun = false;
};

inline constexpr auto call_count = static_cast<std::size_t>(Call::none);

/// In the order of `Call`.
inline constexpr std::array<CallEntry, call_count> call_table{{
#define TARE_MPI_CALL(share, name, ...) {"MPI_" #name, Share::share},
#define TARE_MPI_PAIR(share, waiting, begun, ...) \
    {"MPI_" #waiting, Share::share}, {"MPI_" #begun, Share::share, true},
#include "profile/table/all.inc"
#undef TARE_MPI_CALL
#undef TARE_MPI_PAIR
}};

// NOLINTEND(cppcoreguidelines-macro-usage)

[[nodiscard]] constexpr std::size_t index_of(Call call) { return static_cast<std::size_t>(call); }

}  // namespace tare::profile
