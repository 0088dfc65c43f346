// SPDX-License-Identifier: Apache-2.0
#include "mpiio/report.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "common/json.hpp"
#include "mpiio/cache.hpp"

namespace tare::mpiio {

namespace {

std::string library() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    const std::string whole{text.data(), static_cast<std::size_t>(length)};
    return whole.substr(0, whole.find(','));
}

const char* pattern_name(Pattern pattern) {
    switch (pattern) {
        case Pattern::strided:
            return "strided";
        case Pattern::segmented:
            return "segmented";
        case Pattern::own:
            break;
    }
    return "own";
}

JsonObject phase_json(const Phase& phase) {
    std::vector<JsonObject> ranks;
    for (const double wall_s : phase.rank_s) {
        ranks.push_back(JsonObject{}.add("rank", ranks.size()).add("wall_s", wall_s));
    }
    return JsonObject{}.add("phase", phase.name).add("ranks", ranks);
}

JsonObject point_json(const Point& point) {
    std::vector<JsonObject> phases;
    std::transform(point.phases.begin(), point.phases.end(), std::back_inserter(phases), phase_json);
    return JsonObject{}
        .add("record_byte", point.record_byte)
        .add("cached_byte", point.cached_byte)
        .add("verified_byte", point.verified_byte)
        .add("wrong_byte", point.wrong_byte)
        .add("phases", phases);
}

}  // namespace

std::string json(const Options& options, const World& world, const std::vector<Point>& points) {
    std::vector<JsonObject> all;
    std::transform(points.begin(), points.end(), std::back_inserter(all), point_json);
    return JsonObject{}
        .add("program", "mpiio")
        .add("operation", options.operation == Operation::write ? "write" : "read")
        .add("pattern", pattern_name(options.pattern))
        .add("interface", options.interface == Interface::mpi ? "mpi" : "posix")
        .add("collective", options.collective)
        .add("direct", options.direct)
        .add("ranks", world.ranks())
        .add("size_byte", options.size_byte)
        .add("repetitions", options.repetitions)
        .add("file_system", file_system(options.directory))
        .add("library", library())
        .add("points", all)
        .text();
}

}  // namespace tare::mpiio
