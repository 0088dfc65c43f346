// SPDX-License-Identifier: Apache-2.0
#include "npb/common/outcome.hpp"

#include <algorithm>
#include <cmath>

namespace tare::npb {

std::optional<double> Check::relative_error() const {
    if (!published) {
        return std::nullopt;
    }
    const double difference = std::abs(computed - *published);
    return *published == 0 ? difference : difference / std::abs(*published);
}

bool Check::is_right() const {
    const auto error = relative_error();
    return error && *error <= tolerance;
}

Verification verdict(const std::vector<Check>& checks) {
    const bool wrong = std::any_of(checks.begin(), checks.end(), [](const Check& check) {
        return !std::isfinite(check.computed) || (check.published && !check.is_right());
    });
    if (wrong) {
        return Verification::unsuccessful;
    }
    const bool all_known =
        !checks.empty() && std::all_of(checks.begin(), checks.end(),
                                       [](const Check& check) { return check.published.has_value(); });
    return all_known ? Verification::successful : Verification::not_performed;
}

}  // namespace tare::npb
