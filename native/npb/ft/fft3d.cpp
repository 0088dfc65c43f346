// SPDX-License-Identifier: Apache-2.0
#include "npb/ft/fft3d.hpp"

#include <algorithm>
#include <cstddef>

#include "npb/ft/pencils.hpp"

namespace tare::npb::ft {

namespace {

/// What is written is read again only after the whole box, so that caches are of use to small boxes alone.
bool is_streamed(const Decomposition& decomposition) {
    constexpr double cached_points = 1U << 18U;
    return decomposition.edges.points() > cached_points * decomposition.cut.ranks();
}

Communicator ranks_of_transpose(const Decomposition& decomposition, const World& world) {
    MPI_Comm ranks = MPI_COMM_NULL;
    MPI_Comm_split(world.communicator, decomposition.rank_in_plane(), decomposition.slab(), &ranks);
    return Communicator{ranks};
}

/// Whether a row of a plane goes to several ranks, or comes from several.
bool is_parted(const Decomposition& decomposition) { return decomposition.cut.inner > 1; }

/// The parts of all butterflies along y.
int pieces_of(const Decomposition& decomposition) {
    return decomposition.all_butterflies() * decomposition.cut.parts();
}

TransposeShape shape_to_yz(const Decomposition& decomposition, std::ptrdiff_t row_doubles) {
    return {.items = decomposition.edges.z,
            .rows = pieces_of(decomposition),
            .row_doubles = y_radix * row_doubles,
            .parts_of_row = decomposition.cut.parts()};
}

TransposeShape shape_to_xy(const Decomposition& decomposition, std::ptrdiff_t row_doubles) {
    return {.items = pieces_of(decomposition),
            .rows = decomposition.edges.z,
            .row_doubles = y_radix * row_doubles,
            .parts_of_item = decomposition.cut.parts()};
}

}  // namespace

Fft3d::Fft3d(const Decomposition& decomposition, const World& world, Messages messages, Simd simd, Team& team,
             PartTimes& times)
    : decomposition_{decomposition},
      communicator_{ranks_of_transpose(decomposition, world)},
      ranks_{World::of(communicator_.get())},
      team_{&team},
      times_{&times},
      row_doubles_{decomposition.blocks().count * block_doubles},
      xy_{decomposition, world, simd, is_streamed(decomposition), team.threads()},
      spectrum_{decomposition, simd, is_streamed(decomposition), team.threads()},
      to_yz_{ranks_, shape_to_yz(decomposition, row_doubles_), messages},
      to_xy_{ranks_, shape_to_xy(decomposition, row_doubles_), messages},
      arrived_butterflies_(static_cast<std::size_t>(pieces_of(decomposition))),
      arrived_planes_(static_cast<std::size_t>(decomposition.edges.z)) {
    allocate();
    for (int thread = 0; thread < team.threads(); ++thread) {
        targets_.emplace_back(std::max(arrived_butterflies_.size(), arrived_planes_.size()));
    }
}

/// The field replaces the coefficients of its planes. Where ranks share planes its rows are longer than those
/// of coefficients; there it replaces what was packed for other ranks.
void Fft3d::allocate() {
    const bool is_apart = is_parted(decomposition_);
    const auto field_doubles = is_apart ? field_tile(tiles()) : std::ptrdiff_t{0};
    outgoing_ = Buffer<double>{static_cast<std::size_t>(
        std::max({to_yz_.outgoing_doubles(), to_xy_.outgoing_doubles(), field_doubles}))};
    arriving_ = Buffer<double>{
        static_cast<std::size_t>(std::max(to_yz_.arriving_doubles(), to_xy_.arriving_doubles()))};
    to_yz_.use(outgoing_.data(), arriving_.data());
    to_xy_.use(outgoing_.data(), arriving_.data());
    to_yz_.unpack_from(arrived_planes_);
    to_xy_.unpack_from(arrived_butterflies_);
    field_blocks_ = blocks_from(is_apart ? outgoing_.data() : arriving_.data(), decomposition_.all_blocks());
}

std::ptrdiff_t Fft3d::field_tile(std::ptrdiff_t tile) const {
    return is_parted(decomposition_) ? tile * decomposition_.tile_rows().count * field_row_doubles()
                                     : tile * row_doubles_;
}

std::ptrdiff_t Fft3d::field_row_doubles() const {
    return is_parted(decomposition_) ? std::ptrdiff_t{2} * decomposition_.edges.x : to_xy_.item_doubles();
}

void Fft3d::make_tables() {
    xy_.make_tables();
    spectrum_.make_tables();
}

std::span<double*> Fft3d::targets_of(int thread) { return targets_[static_cast<std::size_t>(thread)].span(); }

/// The threads' tiles keep step where they are transposed: all ranks of a plane have the same ones in hand.
template <typename Begin, typename End>
void Fft3d::for_each_tile(int thread, const Begin& begin, const End& end) {
    const int together = team_->threads();
    for (int first = 0; first < tiles(); first += together) {
        const int tile = first + thread;
        if (tile < tiles()) {
            begin(tile);
        }
        xy_.transpose(thread, std::min(together, tiles() - first));
        if (tile < tiles()) {
            end(tile);
        }
    }
}

void Fft3d::begin_forward(int thread, int tile, const FieldSource& source) {
    const int z = decomposition_.planes().first + tile / int{y_radix};
    const std::ptrdiff_t source_row_doubles = std::ptrdiff_t{2} * decomposition_.edges.x;
    xy_.forward_rows(thread, [&](int first, int rows, double* to) {
        for (int row = 0; row < rows; ++row) {
            source(z, (first + row) * int{y_radix} + tile % int{y_radix}, to + row * source_row_doubles);
        }
    });
}

void Fft3d::end_forward(int thread, int tile) {
    const int plane = tile / int{y_radix};
    const auto targets = targets_of(thread);
    to_yz_.pack_into(plane, targets);
    for (int part = 0; part < decomposition_.cut.parts(); ++part) {
        xy_.forward_columns(
            thread, blocks_of(part),
            {.element = targets.data() + std::ptrdiff_t{part} * decomposition_.all_butterflies(),
             .start_doubles = tile % y_radix * row_doubles_});
    }
    finished(to_yz_, thread, plane);
}

void Fft3d::finished(Transpose& transpose, int thread, int item) {
    transpose.finished(item);
    if (thread == 0) {
        transpose.send_finished();
    }
}

void Fft3d::forward_xy(int thread, const FieldSource& source) {
    for_each_tile(
        thread, [&](int tile) { begin_forward(thread, tile, source); },
        [&](int tile) { end_forward(thread, tile); });
}

void Fft3d::forward_yz(int thread) {
    for (int tile = thread; tile < spectrum_.tiles(); tile += team_->threads()) {
        spectrum_.transform_forward(thread, tile, arrived_planes_.data(), row_doubles_);
    }
}

void Fft3d::transform_forward(const FieldSource& source) {
    to_yz_.begin(y_radix);
    times_->time(Part::xy, [&] { team_->run([&](int thread) { forward_xy(thread, source); }); });
    times_->time(Part::transpose, [&] { to_yz_.complete(); });
    times_->time(Part::yz, [&] { team_->run([&](int thread) { forward_yz(thread); }); });
}

void Fft3d::inverse_yz(int thread, const Evolution& evolution) {
    const auto targets = targets_of(thread);
    for (int tile = thread; tile < spectrum_.tiles(); tile += team_->threads()) {
        const int butterfly = spectrum_.butterfly_of(tile);
        to_xy_.pack_into(butterfly, targets);
        spectrum_.transform_inverse(thread, tile, evolution, targets.data(), row_doubles_);
        finished(to_xy_, thread, butterfly);
    }
}

void Fft3d::begin_inverse(int thread, int tile) {
    const int together = team_->threads();
    for (int part = 0; part < decomposition_.cut.parts(); ++part) {
        xy_.inverse_columns(
            thread, blocks_of(part),
            {.element = arrived_butterflies_.data() + std::ptrdiff_t{part} * decomposition_.all_butterflies(),
             .start_doubles = tile * row_doubles_},
            tile + together < tiles() ? together * row_doubles_ : 0);
    }
}

void Fft3d::end_inverse(int thread, int tile) {
    xy_.inverse_rows(thread, {.element = field_blocks_.data(),
                              .start_doubles = field_tile(tile),
                              .next_doubles = field_row_doubles()});
}

void Fft3d::inverse_xy(int thread) {
    for_each_tile(
        thread, [&](int tile) { begin_inverse(thread, tile); }, [&](int tile) { end_inverse(thread, tile); });
}

void Fft3d::transform_inverse(const Evolution& evolution) {
    to_xy_.begin(spectrum_.tiles_of_butterfly());
    times_->time(Part::yz, [&] { team_->run([&](int thread) { inverse_yz(thread, evolution); }); });
    times_->time(Part::transpose, [&] { to_xy_.complete(); });
    times_->time(Part::xy, [&] { team_->run([&](int thread) { inverse_xy(thread); }); });
}

bool Fft3d::has_row(int y, int z) const {
    return decomposition_.tile_rows().has(y / int{y_radix}) && decomposition_.planes().has(z);
}

const double* Fft3d::point(int x, int y, int z) const {
    const std::ptrdiff_t row = y / y_radix - decomposition_.tile_rows().first;
    return field_blocks_[static_cast<std::size_t>(x / block_points)] +
           field_tile((z - decomposition_.planes().first) * int{y_radix} + y % int{y_radix}) +
           row * field_row_doubles() + x % block_points;
}

}  // namespace tare::npb::ft
