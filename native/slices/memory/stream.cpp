// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include "slices/memory/array.hpp"
#include "slices/pieces.hpp"

namespace tare::slices {

namespace {

constexpr std::size_t chunk_elements = (std::size_t{1} << 20U) / sizeof(double);

void triad(std::span<double> sums, std::span<const double> terms, std::span<const double> factors,
           double scale) {
    for (std::size_t element = 0; element < sums.size(); ++element) {
        sums[element] = terms[element] + scale * factors[element];
    }
}

class Bandwidth final : public Piece {
  public:
    explicit Bandwidth(std::size_t array_mib)
        : chunks_{array_mib},
          sums_{array_mib * chunk_elements},
          terms_{array_mib * chunk_elements},
          factors_{array_mib * chunk_elements} {
        constexpr double term = 2.0;
        constexpr double factor = 0.5;
        std::ranges::fill(sums_.elements(), 0.0);
        std::ranges::fill(terms_.elements(), term);
        std::ranges::fill(factors_.elements(), factor);
    }

    void work(std::uint64_t count) override {
        // Each slice has its own result, so that one which was not computed would not pass for it.
        const auto scale = static_cast<double>(1 + count % 1021);  // NOLINT(*-magic-numbers): a prime
        checksum_ = 0;
        for (std::uint64_t unit = 0; unit < count; ++unit) {
            const std::size_t first = next_ * chunk_elements;
            const auto sums = sums_.elements().subspan(first, chunk_elements);
            triad(sums, terms_.elements().subspan(first, chunk_elements),
                  factors_.elements().subspan(first, chunk_elements), scale);
            checksum_ += std::bit_cast<std::uint64_t>(sums[unit % chunk_elements]);
            next_ = (next_ + 1) % chunks_;
        }
    }

    [[nodiscard]] std::uint64_t checksum() const override { return checksum_; }

  private:
    std::size_t chunks_;
    Array<double> sums_;
    Array<double> terms_;
    Array<double> factors_;
    std::size_t next_ = 0;
    std::uint64_t checksum_ = 0;
};

}  // namespace

std::unique_ptr<Piece> make_bandwidth(std::size_t array_mib) {
    return std::make_unique<Bandwidth>(array_mib);
}

}  // namespace tare::slices
