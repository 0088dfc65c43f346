// SPDX-License-Identifier: Apache-2.0
// Where the program marks its regions. What was written down before counts before.
#include "profile/library/profile.hpp"

namespace tare::profile {

void Profile::enter_region(std::string_view name) {
    settle();
    RegionTable& table = record().regions;
    RegionRecord* const region = table.find_or_add(name);
    if (region == nullptr) {
        ++table.passages_left_out;
    } else if (!region->is_inside()) {
        ++region->passages;
        ++table.inside;
        region->since_ticks = clock_.now();
    }
}

void Profile::leave_region(std::string_view name) {
    if (RegionRecord* const region = record().regions.find(name)) {
        leave(*region);
    }
}

void Profile::leave_regions() {
    for (RegionRecord& region : record().regions.regions) {
        leave(region);
    }
}

void Profile::leave(RegionRecord& region) {
    if (region.is_inside()) {
        region.wall_ticks += clock_.now() - region.since_ticks;
        settle();
        region.since_ticks = 0;
        --record().regions.inside;
    }
}

}  // namespace tare::profile
