// SPDX-License-Identifier: Apache-2.0
// Names of functions by an ELF file's own tables of symbols (elf(5)).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tare::profile {

/// One file's functions. None where it cannot be read, was stripped of its names, or is no such file of this
/// machine's word size and byte order.
class Functions {
  public:
    explicit Functions(const std::string& path);

    /// Of the function that the address lies in, as a programmer writes it; empty if that is not known.
    [[nodiscard]] std::string at(std::uint64_t address) const;

  private:
    struct Function {
        std::uint64_t begin;
        std::uint64_t end;
        std::string name;
    };

    void read(std::string_view file);

    /// By their beginnings.
    std::vector<Function> functions_;
};

}  // namespace tare::profile
