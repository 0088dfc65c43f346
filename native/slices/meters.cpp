// SPDX-License-Identifier: Apache-2.0
#include "slices/meters.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <ctime>

#include "common/number.hpp"
#include "common/system.hpp"

namespace tare::slices {

namespace {

constexpr std::int64_t nanosecond_per_second = 1'000'000'000;
constexpr std::int64_t nanosecond_per_microsecond = 1'000;

std::int64_t as_ns(const timeval& time) {
    return time.tv_sec * nanosecond_per_second + time.tv_usec * nanosecond_per_microsecond;
}

std::string hexadecimal(std::uint64_t number) {
    constexpr int base = 16;
    std::array<char, base> digits{};
    const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), number, base);
    return {digits.data(), written.ptr};
}

}  // namespace

std::string Taken::line() const {
    return "slice " + std::to_string(wall_ns) + ' ' + std::to_string(cpu_ns) + ' ' +
           (waited_ns ? std::to_string(*waited_ns) : "-") + ' ' + hexadecimal(checksum);
}

WaitedTime::WaitedTime(const char* path) : file_{::open(path, O_RDONLY | O_CLOEXEC)} {}

std::optional<std::int64_t> WaitedTime::read_ns() const {
    constexpr std::size_t longest = 128;
    std::array<char, longest> buffer{};
    const ssize_t count = file_ ? ::pread(file_.number(), buffer.data(), buffer.size(), 0) : -1;
    if (count <= 0) {
        return std::nullopt;
    }
    return second_figure({buffer.data(), static_cast<std::size_t>(count)});
}

std::optional<std::int64_t> second_figure(std::string_view text) {
    const auto first = text.find(' ');
    const auto second = text.find(' ', first == std::string_view::npos ? first : first + 1);
    if (second == std::string_view::npos) {
        return std::nullopt;
    }
    return parse_number<std::int64_t>(text.substr(first + 1, second - first - 1));
}

std::int64_t cpu_ns() {
    timespec own{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
    rusage children{};
    ::getrusage(RUSAGE_CHILDREN, &children);
    return own.tv_sec * nanosecond_per_second + own.tv_nsec + as_ns(children.ru_utime) +
           as_ns(children.ru_stime);
}

Meters::Meters(const WaitedTime& waited)
    : waited_{&waited}, waited_ns_{waited.read_ns()}, cpu_ns_{cpu_ns()}, begin_ns_{monotonic_raw_ns()} {}

Taken Meters::taken() const {
    const std::int64_t end_ns = monotonic_raw_ns();
    Taken taken;
    taken.wall_ns = end_ns - begin_ns_;
    taken.cpu_ns = cpu_ns() - cpu_ns_;
    const auto waited_ns = waited_->read_ns();
    if (waited_ns && waited_ns_) {
        taken.waited_ns = *waited_ns - *waited_ns_;
    }
    return taken;
}

}  // namespace tare::slices
