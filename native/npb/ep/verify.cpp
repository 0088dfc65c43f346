// SPDX-License-Identifier: Apache-2.0
#include "npb/ep/verify.hpp"

#include <optional>
#include <string>

namespace tare::npb::ep {

namespace {

constexpr double tolerance = 1e-8;
/// Less than one pair of any count.
constexpr double exact = 1e-12;

Check check_of_count(std::int64_t annulus, std::int64_t found, std::int64_t published) {
    return {.name = "pairs of annulus " + std::to_string(annulus),
            .computed = static_cast<double>(found),
            .published = static_cast<double>(published),
            .tolerance = exact};
}

void add_counts(std::vector<Check>& found, const Class& published, const Tally& tally) {
    std::int64_t annulus = 0;
    for (const std::int64_t count : published.counts) {
        found.push_back(check_of_count(annulus, count_of(tally, annulus), count));
        ++annulus;
    }
}

}  // namespace

const Class& class_of(ProblemClass name) { return find_class<Class>(classes, name, "EP"); }

std::int64_t count_of(const Tally& tally, std::int64_t annulus) {
    const std::span<const std::int64_t, annuli> at_least{tally.at_least};
    const auto place = static_cast<std::size_t>(annulus);
    return at_least[place] - (place + 1 < annuli ? at_least[place + 1] : 0);
}

std::vector<Check> checks(const Arguments& arguments, const Tally& tally) {
    const Class& chosen = class_of(arguments.problem_class);
    const auto published = [&](double value) {
        return arguments.is_published() ? std::optional{value} : std::nullopt;
    };
    std::vector<Check> found{{.name = "sum x",
                              .computed = tally.x,
                              .published = published(chosen.published.x),
                              .tolerance = tolerance},
                             {.name = "sum y",
                              .computed = tally.y,
                              .published = published(chosen.published.y),
                              .tolerance = tolerance}};
    if (arguments.is_published()) {
        add_counts(found, chosen, tally);
    }
    return found;
}

}  // namespace tare::npb::ep
