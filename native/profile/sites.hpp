// SPDX-License-Identifier: Apache-2.0
// From where in the program each call is made: addresses while it runs, places in its files afterwards.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "profile/journal.hpp"

namespace tare::profile {

/// Calls of one kind that return to one address.
struct SiteRecord {
    /// 0: nothing is here.
    std::uint64_t address;
    std::uint64_t count;
    std::int64_t time_ticks;
    std::int64_t longest_ticks;
    std::uint64_t sent_byte;
    std::uint64_t received_byte;
    Call call;

    void add(const Entry& entry) {
        if (entry.is_call) {
            const std::int64_t spent_ticks = entry.end_ticks - entry.begin_ticks;
            ++count;
            time_ticks += spent_ticks;
            longest_ticks = std::max(longest_ticks, spent_ticks);
        }
        sent_byte += entry.sent_byte();
        received_byte += entry.has_received ? entry.received_byte : 0;
    }
};

/// Found by hashing with linear probing (Knuth, The Art of Computer Programming 3, section 6.4, algorithm L).
struct SiteTable {
    static constexpr unsigned place_bits = 10;
    static constexpr std::size_t most_places = std::size_t{1} << place_bits;
    /// Some stay free, so that every search ends soon.
    static constexpr std::size_t most_sites = most_places / 4 * 3;

    std::array<SiteRecord, most_places> places;
    std::uint64_t used;
    /// All calls of sites beyond the most.
    SiteRecord left_out;

    /// Where its calls are counted.
    [[nodiscard]] SiteRecord& row_of(std::uint64_t address, Call call) {
        constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;
        constexpr unsigned key_bits = 64;
        std::size_t place = ((address ^ index_of(call)) * golden) >> (key_bits - place_bits);
        for (std::size_t tried = 0; tried < most_places; ++tried) {
            SiteRecord& row = places.at(place);
            if (row.address == address && row.call == call) {
                return row;
            }
            if (row.address == 0) {
                return claim(row, address, call);
            }
            place = (place + 1) % most_places;
        }
        return left_out;
    }

  private:
    [[nodiscard]] SiteRecord& claim(SiteRecord& row, std::uint64_t address, Call call) {
        if (used >= most_sites) {
            return left_out;
        }
        ++used;
        row.address = address;
        row.call = call;
        return row;
    }
};

/// The program, or a library that it has loaded.
struct ModuleRecord {
    static constexpr std::size_t path_size = 256;
    static constexpr std::size_t build_size = 20;

    /// 0 where nothing is.
    std::uint64_t begin_address;
    std::uint64_t end_address;
    /// What its file's own addresses were shifted by.
    std::uint64_t shift;
    /// What the linker names this build by; all zeros if it names none.
    std::array<std::uint8_t, build_size> build;
    std::array<char, path_size> path;

    [[nodiscard]] bool contains(std::uint64_t address) const {
        return begin_address <= address && address < end_address;
    }
};

inline constexpr std::size_t most_modules = 128;
using ModuleTable = std::array<ModuleRecord, most_modules>;

}  // namespace tare::profile
