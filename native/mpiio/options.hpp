// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mpiio/places.hpp"

namespace tare::mpiio {

enum class Operation : std::uint8_t { write, read };
enum class Interface : std::uint8_t { mpi, posix };

constexpr std::uint64_t usual_byte = std::uint64_t{1} << 20U;

/// What was asked for on the command line.
struct Options {
    Operation operation = Operation::write;
    Pattern pattern = Pattern::strided;
    Interface interface = Interface::mpi;
    bool collective = false;  ///< Whether all ranks call together, so that MPI may gather their records.
    bool direct = false;      ///< Past the page cache; with `Interface::posix` alone.
    bool keep = false;        ///< Leave the files of `write` for a later `read`, unverified.
    bool drop = false;        ///< Ask the kernel to forget these files' pages.
    std::uint64_t size_byte = usual_byte;            ///< Of each rank.
    std::vector<std::uint64_t> records{usual_byte};  ///< Sizes of records, in bytes: a file for each.
    std::uint64_t repetitions = 1;
    std::uint64_t seed = 1;
    std::string directory = ".";
    std::string
        name;  ///< What tells these files from others in the directory; empty: the working directory's name.
};

/// Reads the arguments behind the program's name, in pairs of option and value.
/// Throws `std::invalid_argument`.
[[nodiscard]] Options parse_options(std::span<char* const> arguments);

}  // namespace tare::mpiio
