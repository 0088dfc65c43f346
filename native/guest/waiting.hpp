// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

namespace tare::guest {

/// Devices that a driver has just been loaded for appear within moments, on a busy host within seconds.
constexpr std::chrono::seconds device_limit{30};

/// What `find` gives as soon as it gives something; throws std::runtime_error when that takes too long.
/// `what` says what was waited for.
template <typename Find>
[[nodiscard]] auto wait_for(const std::string& what, Find find) {
    constexpr std::chrono::milliseconds step{2};
    const auto last = std::chrono::steady_clock::now() + device_limit;
    for (;;) {
        if (auto found = find()) {
            return *found;
        }
        if (std::chrono::steady_clock::now() > last) {
            throw std::runtime_error(what + " did not appear within " + std::to_string(device_limit.count()) +
                                     " s");
        }
        std::this_thread::sleep_for(step);
    }
}

}  // namespace tare::guest
