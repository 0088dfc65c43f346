// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace tare::slices {

/// One kind of work that can be done in slices of so many units. Its memory is touched when it is made.
class Piece {
  public:
    Piece() = default;
    Piece(const Piece&) = delete;
    Piece& operator=(const Piece&) = delete;
    Piece(Piece&&) = delete;
    Piece& operator=(Piece&&) = delete;
    virtual ~Piece() = default;

    /// Does exactly so many units of work. Throws `std::exception` when they cannot be done.
    virtual void work(std::uint64_t count) = 0;

    /// Of the last `work`: it depends on that work's result and on nothing but its count, so that arms that
    /// did the same say the same. Not timed.
    [[nodiscard]] virtual std::uint64_t checksum() const = 0;
};

/// How to make each piece of a program, by its name; nothing is allocated before its first use.
using Makers = std::map<std::string, std::function<std::unique_ptr<Piece>()>, std::less<>>;

}  // namespace tare::slices
