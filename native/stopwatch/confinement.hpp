// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/json.hpp"

namespace tare::stopwatch {

/// What confines this process, and with it the command that it will start: credentials, filters, namespaces,
/// priorities and resource limits, as the kernel says (proc(5), getrlimit(2), ioprio_get(2), sched(7)).
/// What it does not say is null.
[[nodiscard]] JsonObject confinement();

/// The same of credentials and filters alone, from the text of /proc/self/status.
void add_credentials(JsonObject& object, std::string_view status);

/// Whether this process gets huge pages without asking for them: "off" where it is refused them (prctl(2),
/// PR_SET_THP_DISABLE), else the kernel's setting, such as "madvise". Nothing when neither can be read.
[[nodiscard]] std::optional<std::string> transparent_huge_pages();

/// The same from the texts of /proc/self/status and of the setting (the kernel's mm/transhuge.rst).
[[nodiscard]] std::optional<std::string> transparent_huge_pages(std::string_view status,
                                                                const std::optional<std::string>& setting);

/// Number of this process's mappings (proc(5), /proc/self/maps): a program that runs elsewhere too has as
/// many there, unless something is put into it. Nothing when it cannot be read.
[[nodiscard]] std::optional<std::int64_t> mappings();

}  // namespace tare::stopwatch
