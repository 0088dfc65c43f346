// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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

    /// Gets ready for `work(count)`, and puts away afterwards what that left. Neither is timed.
    virtual void prepare(std::uint64_t /*count*/) {}
    virtual void finish() {}

    /// Does exactly so many units of work. Throws `std::exception` when they cannot be done.
    virtual void work(std::uint64_t count) = 0;

    /// Of the last `work`: it depends on that work's result and on nothing but its count, so that arms that
    /// did the same say the same. Not timed.
    [[nodiscard]] virtual std::uint64_t checksum() const = 0;

    /// CPU time so far of other processes that take part and live on.
    [[nodiscard]] virtual std::int64_t partners_cpu_ns() const { return 0; }

    /// Checks, once after all turns, what takes too long to be checked after each. Throws `std::exception`.
    virtual void verify() {}
};

/// The numbers behind a piece's name: a size and a stride in `chase:4194304:64`.
using Parameters = std::vector<std::uint64_t>;

/// How to make a piece, and how many numbers must follow its name.
class Maker {
  public:
    template <std::invocable Make>
    Maker(Make plain) : make_{[plain = std::move(plain)](const Parameters&) { return plain(); }} {}
    Maker(std::size_t needed, std::function<std::unique_ptr<Piece>(const Parameters&)> from)
        : needed_{needed}, make_{std::move(from)} {}

    /// Throws `std::invalid_argument` for another number of parameters, or values that cannot be.
    [[nodiscard]] std::unique_ptr<Piece> make(const std::string& name, const Parameters& parameters) const;

  private:
    std::size_t needed_ = 0;
    std::function<std::unique_ptr<Piece>(const Parameters&)> make_;
};

/// How to make each piece of a program, by its name; nothing is allocated before its first use.
using Makers = std::map<std::string, Maker, std::less<>>;

}  // namespace tare::slices
