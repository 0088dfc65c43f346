// SPDX-License-Identifier: Apache-2.0
#include "profile/library/requests.hpp"

#include <utility>

namespace tare::profile {

Tracked* Requests::find(RequestKey key) {
    Place& place = place_of(key);
    return place.key == 0 ? nullptr : &place.tracked;
}

void Requests::put(RequestKey key, Tracked tracked) {
    if (2 * known_ >= places_.size()) {
        grow();
    }
    Place& place = place_of(key);
    known_ += place.key == 0 ? 1 : 0;
    place.key = key;
    place.tracked = std::move(tracked);
}

void Requests::remove(RequestKey key) {
    Place& place = place_of(key);
    if (place.key != 0) {
        place = {};
        --known_;
        close_gap(static_cast<std::size_t>(&place - places_.data()));
    }
    if (!claimed_.empty()) {
        claimed_.erase(key);
    }
}

RequestKey Requests::claim(RequestKey key) {
    Tracked* const found = find(key);
    if (found == nullptr || !found->active) {
        return key;
    }
    Tracked tracked = std::move(*found);
    remove(key);
    const RequestKey claimed = next_claim_++;
    claimed_.emplace(claimed, key);
    put(claimed, std::move(tracked));
    return claimed;
}

void Requests::release(RequestKey claimed) {
    if (const auto handle = claimed_.extract(claimed)) {
        Tracked tracked = std::move(place_of(claimed).tracked);
        remove(claimed);
        put(handle.mapped(), std::move(tracked));
    }
}

Requests::Place& Requests::place_of(RequestKey key) {
    std::size_t place = home(key);
    while (places_[place].key != 0 && places_[place].key != key) {
        place = after(place);
    }
    return places_[place];
}

/// What follows moves up wherever it would no longer be found.
void Requests::close_gap(std::size_t gap) {
    const auto distance = [&](std::size_t from, std::size_t until) {
        return (until - from) & (places_.size() - 1);
    };
    for (std::size_t place = after(gap); places_[place].key != 0; place = after(place)) {
        if (distance(home(places_[place].key), place) >= distance(gap, place)) {
            places_[gap] = std::exchange(places_[place], {});
            gap = place;
        }
    }
}

void Requests::grow() {
    ++bits_;
    auto before = std::exchange(places_, std::vector<Place>(std::size_t{1} << bits_));
    for (Place& place : before) {
        if (place.key != 0) {
            place_of(place.key) = std::move(place);
        }
    }
}

}  // namespace tare::profile
