// SPDX-License-Identifier: Apache-2.0
#include "npb/ft/box.hpp"

#include <algorithm>

#include "npb/ft/layout.hpp"

namespace tare::npb::ft {

namespace {

/// What is written is read again only after the whole box, so that caches are of use to small boxes alone.
bool is_streamed(const Decomposition& decomposition) {
    constexpr double cached_points = 1U << 18U;
    return decomposition.edges.points() > cached_points * decomposition.cut.inner * decomposition.cut.outer;
}

Communicator ranks_of_bundles(const Decomposition& decomposition, const World& world) {
    MPI_Comm found = MPI_COMM_NULL;
    MPI_Comm_split(world.communicator, decomposition.inner_index, decomposition.outer_index, &found);
    return Communicator{found};
}

}  // namespace

Box::Box(const Decomposition& decomposition, const World& world, Simd simd, PartTimes& times)
    : decomposition_{decomposition},
      communicator_{ranks_of_bundles(decomposition, world)},
      ranks_{World::of(communicator_.get())},
      times_{&times},
      row_doubles_{decomposition.blocks().count * block_doubles},
      combs_{decomposition, world, simd, is_streamed(decomposition)},
      spectrum_{decomposition, simd, is_streamed(decomposition)},
      to_bundles_{ranks_,
                  {.items = decomposition.edges.z,
                   .rows = decomposition.all_bundles(),
                   .row_doubles = bundle_rows * row_doubles_}},
      to_combs_{ranks_,
                {.items = decomposition.all_bundles(),
                 .rows = decomposition.edges.z,
                 .row_doubles = bundle_rows * row_doubles_}},
      bundle_places_(static_cast<std::size_t>(decomposition.all_bundles())),
      plane_places_(static_cast<std::size_t>(decomposition.edges.z)) {
    allocate();
}

/// The field replaces the coefficients of its planes. Where ranks share planes its rows are longer than those
/// of coefficients; there it replaces what went to other ranks.
void Box::allocate() {
    const bool is_apart = decomposition_.cut.inner > 1;
    const auto field_doubles = is_apart ? field_comb(decomposition_.planes().count, 0) : std::ptrdiff_t{0};
    outgoing_ = Buffer<double>{static_cast<std::size_t>(
        std::max({to_bundles_.outgoing_doubles(), to_combs_.outgoing_doubles(), field_doubles}))};
    arriving_ = Buffer<double>{
        static_cast<std::size_t>(std::max(to_bundles_.arriving_doubles(), to_combs_.arriving_doubles()))};
    to_bundles_.use(outgoing_.data(), arriving_.data());
    to_combs_.use(outgoing_.data(), arriving_.data());
    field_blocks_ = blocks_from(is_apart ? outgoing_.data() : arriving_.data(), decomposition_.all_blocks());
}

std::ptrdiff_t Box::field_comb(int plane, int comb) const {
    const std::ptrdiff_t number = plane * bundle_rows + comb;
    return decomposition_.cut.inner > 1 ? number * decomposition_.comb_rows().count * field_row_doubles()
                                        : number * row_doubles_;
}

std::ptrdiff_t Box::field_row_doubles() const {
    return decomposition_.cut.inner > 1 ? std::ptrdiff_t{2} * decomposition_.edges.x
                                        : to_combs_.item_doubles();
}

void Box::make_tables() {
    combs_.make_tables();
    spectrum_.make_tables();
}

void Box::forward_plane(int plane, const FieldSource& source) {
    const int z = decomposition_.planes().first + plane;
    const std::ptrdiff_t source_row_doubles = std::ptrdiff_t{2} * decomposition_.edges.x;
    to_bundles_.find_targets(plane, bundle_places_);
    for (int comb = 0; comb < bundle_rows; ++comb) {
        const auto rows_of_comb = [&](int first, int rows, double* to) {
            for (int row = 0; row < rows; ++row) {
                source(z, (first + row) * int{bundle_rows} + comb, to + row * source_row_doubles);
            }
        };
        combs_.forward(rows_of_comb,
                       {.element = bundle_places_.data(), .start_doubles = comb * row_doubles_});
    }
    to_bundles_.finished(plane);
}

void Box::transform_forward(const FieldSource& source) {
    to_bundles_.begin();
    times_->time(Part::combs, [&] {
        for (int plane = 0; plane < decomposition_.planes().count; ++plane) {
            forward_plane(plane, source);
        }
    });
    times_->time(Part::exchange, [&] { to_bundles_.complete(); });
    times_->time(Part::bundles, [&] {
        for (int bundle = 0; bundle < decomposition_.bundles().count; ++bundle) {
            to_bundles_.find_arrivals(bundle, plane_places_);
            spectrum_.transform_forward(bundle, plane_places_.data(), row_doubles_);
        }
    });
}

void Box::inverse_plane(int plane) {
    to_combs_.find_arrivals(plane, bundle_places_);
    for (int comb = 0; comb < bundle_rows; ++comb) {
        const bool is_last = plane + 1 == decomposition_.planes().count && comb + 1 == bundle_rows;
        combs_.inverse({.element = bundle_places_.data(), .start_doubles = comb * row_doubles_},
                       {.element = field_blocks_.data(),
                        .start_doubles = field_comb(plane, comb),
                        .next_doubles = field_row_doubles()},
                       is_last ? 0 : row_doubles_);
    }
}

void Box::transform_inverse(const Evolution& evolution) {
    to_combs_.begin();
    times_->time(Part::bundles, [&] {
        for (int bundle = 0; bundle < decomposition_.bundles().count; ++bundle) {
            to_combs_.find_targets(bundle, plane_places_);
            spectrum_.transform_inverse(bundle, evolution, plane_places_.data(), row_doubles_);
            to_combs_.finished(bundle);
        }
    });
    times_->time(Part::exchange, [&] { to_combs_.complete(); });
    times_->time(Part::combs, [&] {
        for (int plane = 0; plane < decomposition_.planes().count; ++plane) {
            inverse_plane(plane);
        }
    });
}

bool Box::has_row(int y, int z) const {
    return decomposition_.comb_rows().has(y / int{bundle_rows}) && decomposition_.planes().has(z);
}

const double* Box::point(int x, int y, int z) const {
    const std::ptrdiff_t row = y / bundle_rows - decomposition_.comb_rows().first;
    return field_blocks_[static_cast<std::size_t>(x / block_points)] +
           field_comb(z - decomposition_.planes().first, y % int{bundle_rows}) + row * field_row_doubles() +
           x % block_points;
}

}  // namespace tare::npb::ft
