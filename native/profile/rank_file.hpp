// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>

#include "profile/record.hpp"

namespace tare::profile {

/// A job's files are read by others than its user.
constexpr mode_t everyone_reads = 0644;

/// The counters of one rank, mapped from its file or, where there can be none, in memory that dies with it.
class RankFile {
  public:
    /// Empty counters. The file's blocks are reserved, so that a full disk cannot kill the program later.
    [[nodiscard]] static RankFile create(const std::string& path, int ranks);
    /// Those that a process left, or is still writing; nothing if it is no whole file of this version's.
    [[nodiscard]] static std::optional<RankFile> open(const std::string& path);

    RankFile(RankFile&& other) noexcept;
    RankFile& operator=(RankFile&&) = delete;
    RankFile(const RankFile&) = delete;
    RankFile& operator=(const RankFile&) = delete;
    ~RankFile();

    [[nodiscard]] RankCounters counters() const;
    /// Takes the name away; the counters stay as long as this object.
    void remove();

  private:
    RankFile(void* memory, std::size_t byte, std::string path);

    void* memory_;
    std::size_t byte_;
    std::string path_;
};

/// Where a rank of the run whose profile is `profile` keeps its counters.
[[nodiscard]] std::string rank_path(const std::string& profile, int rank);

}  // namespace tare::profile
