// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>
#include <string>

#include "slices/memory/pieces.hpp"

#if defined(__GNUC__) && !defined(__clang__)
// A copy stays the loop that it is: the C library would choose another one for each processor.
#pragma GCC optimize("no-tree-loop-distribute-patterns")
#endif

namespace tare::slices {

namespace {

using Target = std::span<double>;
using Source = std::span<const double>;

/// Writes all of `target`, of as many elements of one source or two.
using Pass = void (*)(Target target, Source first, Source second, double scale);

struct Operation {
    std::string_view name;
    std::size_t arrays;  ///< That it reads and writes.
    Pass pass;
};

constexpr double first_value = 2.0;
constexpr double second_value = 0.5;

/// McCalpin's, with a and b never written, so that results stay the same for ever.
constexpr std::array<Operation, 4> operations{{
    {.name = "copy",
     .arrays = 2,
     .pass =
         [](Target target, Source first, Source, double) {
             for (std::size_t place = 0; place < target.size(); ++place) {
                 target[place] = first[place];
             }
         }},
    {.name = "scale",
     .arrays = 2,
     .pass =
         [](Target target, Source first, Source, double scale) {
             for (std::size_t place = 0; place < target.size(); ++place) {
                 target[place] = scale * first[place];
             }
         }},
    {.name = "add",
     .arrays = 3,
     .pass =
         [](Target target, Source first, Source second, double) {
             for (std::size_t place = 0; place < target.size(); ++place) {
                 target[place] = first[place] + second[place];
             }
         }},
    {.name = "triad",
     .arrays = 3,
     .pass =
         [](Target target, Source first, Source second, double scale) {
             for (std::size_t place = 0; place < target.size(); ++place) {
                 target[place] = first[place] + scale * second[place];
             }
         }},
}};

constexpr std::size_t large_elements = (std::size_t{2} << 20U) / sizeof(double);
constexpr std::size_t line_elements = 64 / sizeof(double);  ///< Of a cache line.

class Stream final : public Piece {
  public:
    Stream(const Operation& operation, std::size_t size_byte, Memory& memory)
        : operation_{&operation}, elements_{size_byte / operation.arrays / sizeof(double)} {
        elements_ -= elements_ % line_elements;
        if (elements_ == 0) {
            throw std::invalid_argument(std::to_string(size_byte) +
                                        " byte are less than a cache line for each of " +
                                        std::to_string(operation.arrays) + " arrays");
        }
        const auto all = memory.elements<double>(operation.arrays * elements_);
        first_ = all.first(elements_);
        second_ = all.subspan(operation.arrays == 3 ? elements_ : 0, elements_);
        target_ = all.last(elements_);
        std::ranges::fill(target_, 0.0);
        std::ranges::fill(second_, second_value);
        std::ranges::fill(first_, first_value);
    }

    void work(std::uint64_t count) override {
        // Each count has its own result, so that a slice which was not computed does not pass for another.
        scale_ = static_cast<double>(1 + count % 1021);  // NOLINT(*-magic-numbers): a prime
        written_ = count * stream_unit_elements;
        for (std::uint64_t left = written_; left != 0;) {
            const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(left, elements_ - next_));
            operation_->pass(target_.subspan(next_, part), first_.subspan(next_, part),
                             second_.subspan(next_, part), scale_);
            next_ = (next_ + part) % elements_;
            left -= part;
        }
    }

    /// Looks at some of what was written last, at all places within a cache line, and spoils it, so
    /// that what is not written the next time does not pass. Of a large array at few: they come into the
    /// caches.
    [[nodiscard]] std::uint64_t checksum() const override {
        const std::uint64_t apart =
            elements_ < large_elements ? 61 : 4099;  // NOLINT(*-magic-numbers): primes
        double right = 0.0;
        operation_->pass({&right, 1}, {&first_value, 1}, {&second_value, 1}, scale_);
        std::uint64_t checked = 0;
        for (std::uint64_t back = 1; back <= std::min<std::uint64_t>(written_, elements_); back += apart) {
            double& element = target_[(next_ + elements_ - back) % elements_];
            if (element != right) {
                throw std::runtime_error(std::string{operation_->name} + " gave " + std::to_string(element) +
                                         " where " + std::to_string(right) + " is right");
            }
            element = -1.0;
            ++checked;
        }
        return checked + std::bit_cast<std::uint64_t>(scale_);
    }

  private:
    const Operation* operation_;
    std::size_t elements_;
    Target first_;
    Target second_;
    Target target_;
    double scale_ = 0.0;
    std::size_t next_ = 0;
    std::uint64_t written_ = 0;
};

}  // namespace

std::unique_ptr<Piece> make_stream(std::string_view operation, std::size_t size_byte, Memory& memory) {
    const auto* const known = std::ranges::find(operations, operation, &Operation::name);
    if (known == operations.end()) {
        throw std::invalid_argument("there is no operation '" + std::string{operation} + "'");
    }
    return std::make_unique<Stream>(*known, size_byte, memory);
}

}  // namespace tare::slices
