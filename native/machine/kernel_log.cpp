// SPDX-License-Identifier: Apache-2.0
#include "machine/kernel_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <sstream>

#include "common/file_descriptor.hpp"
#include "common/number.hpp"
#include "common/system.hpp"

namespace tare::machine {

namespace {

constexpr double khz_per_mhz = 1000;

/// How arch/x86/kernel/tsc.c words a rate. The later in this list, the better founded: the processor's own,
/// the counter's where the two differ, and what a measurement against another timer corrected it to.
struct Wording {
    std::string_view before;
    std::string_view after;
    std::string_view from;
};
constexpr std::array<Wording, 3> wordings{{
    {"tsc: Detected ", " MHz processor", "kernel log: processor"},
    {"tsc: Detected ", " MHz TSC", "kernel log: detected"},
    {"tsc: Refined TSC clocksource calibration: ", " MHz", "kernel log: refined"},
}};

/// What stands between the two texts; nothing when one of them is missing.
std::optional<std::string_view> between(std::string_view line, std::string_view before,
                                        std::string_view after) {
    const auto found = line.find(before);
    if (found == std::string_view::npos) {
        return std::nullopt;
    }
    const auto rest = line.substr(found + before.size());
    const auto end = rest.find(after);
    return end == std::string_view::npos ? std::nullopt : std::optional{rest.substr(0, end)};
}

std::optional<TscRate> rate_in(std::string_view line, const Wording& wording) {
    const auto text = between(line, wording.before, wording.after);
    const auto mhz = text ? parse_number<double>(*text) : std::nullopt;
    if (!mhz || !(*mhz > 0) || !std::isfinite(*mhz)) {
        return std::nullopt;
    }
    const double khz = std::round(*mhz * khz_per_mhz);
    return TscRate{.khz = static_cast<std::uint64_t>(khz), .from = std::string{wording.from}};
}

std::size_t rank_of(const std::optional<TscRate>& rate) {
    std::size_t rank = 0;
    while (rate && rank < wordings.size() && wordings.at(rank).from != rate->from) {
        ++rank;
    }
    return rank;
}

void take_lines(KernelLog& log, std::string_view text) {
    std::istringstream lines{std::string{text}};
    for (std::string line; std::getline(lines, line);) {
        take_line(log, line);
    }
}

}  // namespace

void take_line(KernelLog& log, std::string_view line) {
    constexpr std::string_view carrier = "Booting paravirtualized kernel on ";
    if (const auto found = line.find(carrier); found != std::string_view::npos) {
        log.booted_on = trimmed(line.substr(found + carrier.size()));
    }
    for (const Wording& wording : wordings) {
        const auto rate = rate_in(line, wording);
        if (rate && rank_of(rate) >= rank_of(log.tsc_rate)) {
            log.tsc_rate = rate;
        }
    }
}

KernelLog read_kernel_log(const std::filesystem::path& root) {
    constexpr std::size_t largest_record = 8192;  // a shorter buffer would get EINVAL
    constexpr int most_records = 100'000;         // a kernel that never stops talking must not keep us
    KernelLog log;
    const auto path = root / "dev/kmsg";
    const FileDescriptor file{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    std::array<char, largest_record> record{};
    for (int count = 0; file && count < most_records; ++count) {
        const ssize_t length = ::read(file.number(), record.data(), record.size());
        // EPIPE: the record was overwritten before it was read; the next read goes on behind it.
        if (length == 0 || (length < 0 && errno != EPIPE)) {
            break;
        }
        take_lines(log, {record.data(), static_cast<std::size_t>(length < 0 ? 0 : length)});
    }
    return log;
}

}  // namespace tare::machine
