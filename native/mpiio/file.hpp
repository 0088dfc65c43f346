// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "mpiio/options.hpp"

namespace tare::mpiio {

/// An open file; every member throws `std::runtime_error` or `std::system_error` when it fails, also where
/// fewer bytes move than were asked for.
class File {
  public:
    File() = default;
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    File(File&&) = delete;
    File& operator=(File&&) = delete;
    virtual ~File() = default;

    virtual void write(std::span<const std::byte> record, std::uint64_t place) = 0;
    virtual void read(std::span<std::byte> record, std::uint64_t place) = 0;
    virtual void sync() = 0;
    virtual void close() = 0;
};

/// Opens it: for `write` a new and empty one. All ranks call it together.
[[nodiscard]] std::unique_ptr<File> open_mpi(const std::string& path, const Options& options,
                                             Operation operation);
[[nodiscard]] std::unique_ptr<File> open_posix(const std::string& path, const Options& options,
                                               Operation operation);

}  // namespace tare::mpiio
