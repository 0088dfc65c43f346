// SPDX-License-Identifier: Apache-2.0
// What is left of a run whose ranks did not all come to MPI_Finalize.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profile/rank_file.hpp"
#include "profile/report.hpp"

namespace tare::profile {

/// The files of ranks beside `profile`.
[[nodiscard]] std::vector<std::string> rank_files_beside(const std::string& profile);

/// The newest run of which there are files; nothing if there is none.
[[nodiscard]] std::optional<Run> join_newest(std::span<const RankFile> files);

/// Puts `text` where `path` is, at once and whole; throws `std::system_error` when that cannot be done.
void replace_file(const std::string& path, const std::string& text);

}  // namespace tare::profile
