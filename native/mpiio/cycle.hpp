// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpiio/options.hpp"
#include "mpiio/world.hpp"

namespace tare::mpiio {

/// One timed phase: the seconds of every rank in their order, on rank 0; empty elsewhere.
struct Phase {
    std::string_view name;
    std::vector<double> rank_s;
};

/// What one record size and repetition gave.
struct Point {
    std::uint64_t record_byte = 0;
    std::vector<Phase> phases;
    std::optional<std::uint64_t> cached_byte;  ///< Before `read`, of the file most of which was cached.
    std::uint64_t verified_byte = 0;           ///< Of all ranks.
    std::uint64_t wrong_byte = 0;
};

/// Memory that a rank's whole share fits into, aligned as direct transfers want it, its pages there already.
class Buffer {
  public:
    explicit Buffer(std::uint64_t size_byte);
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    Buffer(Buffer&&) = delete;
    Buffer& operator=(Buffer&&) = delete;
    ~Buffer();

    [[nodiscard]] std::span<std::byte> all() const { return all_; }
    void clear();

  private:
    std::span<std::byte> all_;
};

/// Does all of it, for every record size and repetition; all ranks call it together.
/// `name` is that of the files, without what tells one from another. Throws as `File`.
[[nodiscard]] std::vector<Point> run(const Options& options, const World& world, const std::string& name);

}  // namespace tare::mpiio
