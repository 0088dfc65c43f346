// SPDX-License-Identifier: Apache-2.0
#include "npb/common/report.hpp"

#include <algorithm>
#include <array>
#include <iomanip>
#include <optional>
#include <sstream>

#include "common/json.hpp"

namespace tare::npb {

namespace {

/// The version of NPB whose rules and counts these kernels follow.
constexpr std::string_view followed_version = "3.4";
/// Says in the block whose program this is, as long as its column is wide: its figures must not pass for
/// the reference's.
constexpr std::string_view own_version = "Tare rewrite, 3.4 rules";
constexpr int name_width = 16;
constexpr int value_width = 24;
constexpr int decimals = 6;

std::string_view word_of(Verification verification) {
    constexpr std::array<std::string_view, 3> words{"SUCCESSFUL", "UNSUCCESSFUL", "NOT PERFORMED"};
    return words.at(static_cast<std::size_t>(verification));
}

std::vector<double> gather(const World& world, double value) {
    std::vector<double> all(world.rank == 0 ? static_cast<std::size_t>(world.ranks) : 0);
    MPI_Gather(&value, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, 0, world.communicator);
    return all;
}

bool any_rank(const World& world, bool here) {
    int doubt = here ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &doubt, 1, MPI_INT, MPI_MAX, world.communicator);
    return doubt != 0;
}

JsonObject check_json(const Check& check) {
    return JsonObject{}
        .add("name", check.name)
        .add("computed", check.computed)
        .add("published", check.published)
        .add("relative_error", check.relative_error())
        .add("tolerance", check.tolerance);
}

std::vector<JsonObject> check_list(const Report& report) {
    std::vector<JsonObject> found;
    std::transform(report.outcome.checks.begin(), report.outcome.checks.end(), std::back_inserter(found),
                   check_json);
    return found;
}

/// The first ranks do (`first_ranks`); the others wait, and have no time.
bool takes_part(const Report& report, std::size_t rank) {
    return rank < static_cast<std::size_t>(report.outcome.active_ranks);
}

std::vector<JsonObject> rank_list(const Report& report) {
    std::vector<JsonObject> found;
    for (std::size_t rank = 0; rank < report.rank_wall_s.size(); ++rank) {
        const auto time_of = [&](const std::vector<double>& times) {
            return takes_part(report, rank) ? std::optional{times[rank]} : std::nullopt;
        };
        JsonObject one = JsonObject{}.add("rank", rank).add("wall_s", time_of(report.rank_wall_s));
        for (std::size_t phase = 0; phase < report.phase_wall_s.size(); ++phase) {
            one.add(report.outcome.phases[phase].name + "_s", time_of(report.phase_wall_s[phase]));
        }
        found.push_back(one);
    }
    return found;
}

std::vector<std::string> runnable_names() {
    std::vector<std::string> names;
    for (const Simd simd : runnable()) {
        names.emplace_back(name_of(simd));
    }
    return names;
}

std::string size_text(const std::vector<std::int64_t>& size) {
    std::string text;
    for (const auto edge : size) {
        text += (text.empty() ? "" : "x") + std::to_string(edge);
    }
    return text;
}

/// The lines of a block, names and values in columns.
class Block {
  public:
    template <typename Value>
    Block& line(std::string_view name, const Value& value) {
        stream_ << ' ' << std::left << std::setw(name_width) << name << "= " << std::right
                << std::setw(value_width) << value << '\n';
        return *this;
    }

    [[nodiscard]] std::ostringstream& stream() { return stream_; }

  private:
    std::ostringstream stream_;
};

}  // namespace

double Report::wall_s() const {
    return rank_wall_s.empty() ? 0 : *std::max_element(rank_wall_s.begin(), rank_wall_s.end());
}

double Report::million_operations_per_s() const { return outcome.million_operations / wall_s(); }

Report gathered(std::string kernel, const Arguments& arguments, const World& world, Outcome outcome) {
    Report report{.kernel = std::move(kernel), .arguments = arguments, .ranks = world.ranks};
    report.rank_wall_s = gather(world, outcome.wall_s);
    for (const Phase& phase : outcome.phases) {
        report.phase_wall_s.push_back(gather(world, phase.wall_s));
    }
    report.verification =
        any_rank(world, outcome.wrong_here) ? Verification::unsuccessful : verdict(outcome.checks);
    report.outcome = std::move(outcome);
    return report;
}

std::string json(const Report& report) {
    const auto& outcome = report.outcome;
    const std::string letter(1, letter_of(report.arguments.problem_class));
    return JsonObject{}
        .add("kernel", report.kernel)
        .add("class", report.arguments.is_published() ? letter : "own")
        .add("size", size_text(outcome.size))
        .add("iterations", outcome.iterations)
        .add("ranks", report.ranks)
        .add("active_ranks", outcome.active_ranks)
        .add("threads", report.arguments.threads)
        .add("messages", name_of(report.arguments.messages))
        .add("wall_s", report.wall_s())
        .add("million_operations", outcome.million_operations)
        .add("million_operations_per_s", report.million_operations_per_s())
        .add("operation", outcome.operation)
        .add("verification", word_of(report.verification))
        .add("checks", check_list(report))
        .add("per_rank", rank_list(report))
        .add("simd", name_of(report.arguments.simd))
        .add("simd_rule", report.arguments.simd_rule)
        .add("simd_runnable", runnable_names())
        .add("follows", followed_version)
        .text();
}

std::string text(const Report& report) {
    const auto& outcome = report.outcome;
    const double rate = report.million_operations_per_s();
    Block block;
    block.stream() << "\n " << report.kernel << " Benchmark Completed.\n"
                   << std::fixed << std::setprecision(decimals);
    block.line("Class", report.arguments.is_published() ? letter_of(report.arguments.problem_class) : 'U')
        .line("Size", size_text(outcome.size))
        .line("Iterations", outcome.iterations)
        .line("Time in seconds", report.wall_s())
        .line("Total processes", report.ranks)
        .line("Active procs", outcome.active_ranks)
        .line("Mop/s total", rate)
        .line("Mop/s/process", rate / outcome.active_ranks)
        .line("Operation type", outcome.operation)
        .line("Verification", word_of(report.verification))
        .line("Version", own_version)
        .line("Messages", name_of(report.arguments.messages))
        .line("Vector code", name_of(report.arguments.simd))
        .line("Vector rule", report.arguments.simd_rule);
    return block.stream().str();
}

}  // namespace tare::npb
