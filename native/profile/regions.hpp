// SPDX-License-Identifier: Apache-2.0
// Parts of the program that it marks: what lies between their begins and ends counts for them too.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "profile/call_record.hpp"

namespace tare::profile {

/// All passages of one region together.
struct RegionRecord {
    static constexpr std::size_t name_size = 64;

    /// Up to its zero; that of MPI_Pcontrol(1) has none.
    std::array<char, name_size> name;
    std::uint64_t passages;
    /// 0 outside of it.
    std::int64_t since_ticks;
    /// Of the passages that have ended.
    std::int64_t wall_ticks;
    ShareTicks share_ticks;
    /// The number of each call's row, from 1 on; 0: it has none yet.
    std::array<std::uint16_t, call_count> rows;
    /// Calls for which there was no row.
    std::uint64_t left_out;

    [[nodiscard]] bool is_inside() const { return since_ticks != 0; }
    /// Names that are longer than there is room are alike if their beginnings are.
    [[nodiscard]] bool has_name(std::string_view searched) const {
        const std::string_view own{name.data(), name_size - 1};
        return own.substr(0, own.find('\0')) == searched.substr(0, name_size - 1);
    }
};

/// The first is that of MPI_Pcontrol(1), the others have names.
struct RegionTable {
    static constexpr std::size_t most_regions = 16;
    /// Of all regions together.
    static constexpr std::size_t most_rows = 192;

    std::array<RegionRecord, most_regions> regions;
    std::array<CallRecord, most_rows> rows;
    std::uint64_t used_rows;
    /// How many regions the program is in: in none, counting need not look at them.
    std::uint64_t inside;
    /// Of regions beyond the most.
    std::uint64_t passages_left_out;

    /// Null if it has not been entered before.
    [[nodiscard]] RegionRecord* find(std::string_view name) {
        RegionRecord* const region = find_or_free(name);
        return region != nullptr && region->has_name(name) ? region : nullptr;
    }
    /// Null if there is no room.
    [[nodiscard]] RegionRecord* find_or_add(std::string_view name) {
        RegionRecord* const region = find_or_free(name);
        if (region != nullptr && !region->has_name(name)) {
            std::copy_n(name.begin(), std::min(name.size(), RegionRecord::name_size - 1),
                        region->name.begin());
        }
        return region;
    }
    /// Null if there is no room.
    [[nodiscard]] CallRecord* row_of(RegionRecord& region, Call call) {
        std::uint16_t& row = region.rows.at(index_of(call));
        if (row == 0 && used_rows < most_rows) {
            row = static_cast<std::uint16_t>(++used_rows);
        }
        return row == 0 || row > most_rows ? nullptr : &rows.at(row - 1U);
    }
    /// The same of a call that it may have no row of.
    [[nodiscard]] const CallRecord* known_row(const RegionRecord& region, std::size_t call) const {
        const std::uint16_t row = region.rows.at(call);
        return row == 0 || row > most_rows ? nullptr : &rows.at(row - 1U);
    }

  private:
    [[nodiscard]] RegionRecord* find_or_free(std::string_view name) {
        auto* const first = name.empty() ? regions.begin() : regions.begin() + 1;
        auto* const region = std::find_if(first, regions.end(), [&](const RegionRecord& known) {
            return known.has_name(name) || known.has_name({});
        });
        return region == regions.end() ? nullptr : &*region;
    }
};

}  // namespace tare::profile
