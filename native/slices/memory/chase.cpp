// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "slices/memory/pieces.hpp"

namespace tare::slices {

namespace {

struct Stop {
    const Stop* next;
    std::uint64_t place;  ///< In the order of the loads.
};

class Chase final : public Piece {
  public:
    Chase(std::size_t size_byte, std::size_t stride_byte, Memory& memory)
        : stops_{size_byte / stride_byte},
          stride_byte_{stride_byte},
          bytes_{memory.elements<std::byte>(stops_ * stride_byte)} {
        link();
    }

    void work(std::uint64_t count) override {
        first_ = at_->place;
        const Stop* here = at_;
        for (std::uint64_t load = 0; load < count; ++load) {
            here = here->next;
        }
        at_ = here;
        right_ = count % stops_;
    }

    /// How far the loads went, which no loads but the right ones can know.
    [[nodiscard]] std::uint64_t checksum() const override {
        const std::uint64_t went = (at_->place + stops_ - first_) % stops_;
        if (went != right_) {
            throw std::runtime_error("a pointer chase went " + std::to_string(went) + " places instead of " +
                                     std::to_string(right_));
        }
        return went;
    }

  private:
    [[nodiscard]] Stop& stop(std::size_t index) const {
        // NOLINTNEXTLINE(*-reinterpret-cast): aligned, as the stride is a multiple of the size of a stop
        return *reinterpret_cast<Stop*>(bytes_.data() + index * stride_byte_);
    }

    /// A cycle through all stops in a random order, the same one in every run.
    void link() {
        std::vector<std::uint64_t> order(stops_);
        std::iota(order.begin(), order.end(), std::uint64_t{0});
        std::shuffle(order.begin(), order.end(),
                     std::mt19937_64{});  // NOLINT(cert-msc*): predictable on purpose
        for (std::size_t place = 0; place < stops_; ++place) {
            stop(order[place]) = {.next = &stop(order[(place + 1) % stops_]), .place = place};
        }
        at_ = &stop(order.front());
    }

    std::size_t stops_;
    std::size_t stride_byte_;
    std::span<std::byte> bytes_;
    const Stop* at_ = nullptr;
    std::uint64_t first_ = 0;
    std::uint64_t right_ = 0;
};

}  // namespace

std::unique_ptr<Piece> make_chase(std::size_t size_byte, std::size_t stride_byte, Memory& memory) {
    if (stride_byte == 0 || stride_byte % sizeof(Stop) != 0 || size_byte < 2 * stride_byte) {
        throw std::invalid_argument("a pointer chase needs a stride that is a multiple of " +
                                    std::to_string(sizeof(Stop)) + " byte, and two strides or more: not " +
                                    std::to_string(size_byte) + " byte by " + std::to_string(stride_byte));
    }
    return std::make_unique<Chase>(size_byte, stride_byte, memory);
}

}  // namespace tare::slices
