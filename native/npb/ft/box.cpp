// SPDX-License-Identifier: Apache-2.0
#include "npb/ft/box.hpp"

#include <algorithm>

#include "npb/ft/layout.hpp"

namespace tare::npb::ft {

namespace {

/// What is written is read again only after the whole box, so that caches are of use to small boxes alone.
bool is_streamed(const Decomposition& decomposition) {
    constexpr double cached_points = 1U << 18U;
    return decomposition.edges.points() > cached_points * decomposition.cut.ranks();
}

Communicator ranks_of_bundles(const Decomposition& decomposition, const World& world) {
    MPI_Comm found = MPI_COMM_NULL;
    MPI_Comm_split(world.communicator, decomposition.place_in_plane(), decomposition.group_of_planes(),
                   &found);
    return Communicator{found};
}

/// Whether a row of a plane goes to several ranks, or comes from several.
bool is_parted(const Decomposition& decomposition) { return decomposition.cut.inner > 1; }

/// The parts of all bundles.
int pieces_of(const Decomposition& decomposition) {
    return decomposition.all_bundles() * decomposition.cut.parts();
}

Table2d table_to_bundles(const Decomposition& decomposition, std::ptrdiff_t row_doubles) {
    return {.items = decomposition.edges.z,
            .rows = pieces_of(decomposition),
            .row_doubles = bundle_rows * row_doubles,
            .parts_of_row = decomposition.cut.parts()};
}

Table2d table_to_combs(const Decomposition& decomposition, std::ptrdiff_t row_doubles) {
    return {.items = pieces_of(decomposition),
            .rows = decomposition.edges.z,
            .row_doubles = bundle_rows * row_doubles,
            .parts_of_item = decomposition.cut.parts()};
}

}  // namespace

Box::Box(const Decomposition& decomposition, const World& world, Messages messages, Simd simd, Team& team,
         PartTimes& times)
    : decomposition_{decomposition},
      communicator_{ranks_of_bundles(decomposition, world)},
      ranks_{World::of(communicator_.get())},
      team_{&team},
      times_{&times},
      row_doubles_{decomposition.blocks().count * block_doubles},
      combs_{decomposition, world, simd, is_streamed(decomposition), team.threads()},
      spectrum_{decomposition, simd, is_streamed(decomposition), team.threads()},
      to_bundles_{ranks_, table_to_bundles(decomposition, row_doubles_), messages},
      to_combs_{ranks_, table_to_combs(decomposition, row_doubles_), messages},
      arrived_bundles_(static_cast<std::size_t>(pieces_of(decomposition))),
      arrived_planes_(static_cast<std::size_t>(decomposition.edges.z)) {
    allocate();
    for (int thread = 0; thread < team.threads(); ++thread) {
        targets_.emplace_back(std::max(arrived_bundles_.size(), arrived_planes_.size()));
    }
}

/// The field replaces the coefficients of its planes. Where ranks share planes its rows are longer than those
/// of coefficients; there it replaces what went to other ranks.
void Box::allocate() {
    const bool is_apart = is_parted(decomposition_);
    const auto field_doubles = is_apart ? field_comb(combs()) : std::ptrdiff_t{0};
    outgoing_ = Buffer<double>{static_cast<std::size_t>(
        std::max({to_bundles_.outgoing_doubles(), to_combs_.outgoing_doubles(), field_doubles}))};
    arriving_ = Buffer<double>{
        static_cast<std::size_t>(std::max(to_bundles_.arriving_doubles(), to_combs_.arriving_doubles()))};
    to_bundles_.use(outgoing_.data(), arriving_.data());
    to_combs_.use(outgoing_.data(), arriving_.data());
    to_bundles_.find_arrivals(arrived_planes_);
    to_combs_.find_arrivals(arrived_bundles_);
    field_blocks_ = blocks_from(is_apart ? outgoing_.data() : arriving_.data(), decomposition_.all_blocks());
}

std::ptrdiff_t Box::field_comb(std::ptrdiff_t comb) const {
    return is_parted(decomposition_) ? comb * decomposition_.comb_rows().count * field_row_doubles()
                                     : comb * row_doubles_;
}

std::ptrdiff_t Box::field_row_doubles() const {
    return is_parted(decomposition_) ? std::ptrdiff_t{2} * decomposition_.edges.x : to_combs_.item_doubles();
}

void Box::make_tables() {
    combs_.make_tables();
    spectrum_.make_tables();
}

std::span<double*> Box::targets_of(int thread) { return targets_[static_cast<std::size_t>(thread)].span(); }

/// The threads' combs keep step where they are exchanged: all ranks of a plane have the same ones in hand.
template <typename Begin, typename End>
void Box::for_each_comb(int thread, const Begin& begin, const End& end) {
    const int together = team_->threads();
    for (int first = 0; first < combs(); first += together) {
        const int comb = first + thread;
        if (comb < combs()) {
            begin(comb);
        }
        combs_.exchange(thread, std::min(together, combs() - first));
        if (comb < combs()) {
            end(comb);
        }
    }
}

void Box::begin_forward(int thread, int comb, const FieldSource& source) {
    const int z = decomposition_.planes().first + comb / int{bundle_rows};
    const std::ptrdiff_t source_row_doubles = std::ptrdiff_t{2} * decomposition_.edges.x;
    combs_.forward_rows(thread, [&](int first, int rows, double* to) {
        for (int row = 0; row < rows; ++row) {
            source(z, (first + row) * int{bundle_rows} + comb % int{bundle_rows},
                   to + row * source_row_doubles);
        }
    });
}

void Box::end_forward(int thread, int comb) {
    const int plane = comb / int{bundle_rows};
    const auto targets = targets_of(thread);
    to_bundles_.find_targets(plane, targets);
    for (int part = 0; part < decomposition_.cut.parts(); ++part) {
        combs_.forward_columns(thread, blocks_of(part),
                               {.element = targets.data() + part * decomposition_.all_bundles(),
                                .start_doubles = comb % bundle_rows * row_doubles_});
    }
    finished(to_bundles_, thread, plane);
}

void Box::finished(Exchange& exchange, int thread, int item) {
    exchange.finished(item);
    if (thread == 0) {
        exchange.send_finished();
    }
}

void Box::forward_combs(int thread, const FieldSource& source) {
    for_each_comb(
        thread, [&](int comb) { begin_forward(thread, comb, source); },
        [&](int comb) { end_forward(thread, comb); });
}

void Box::forward_bundles(int thread) {
    for (int group = thread; group < spectrum_.groups(); group += team_->threads()) {
        spectrum_.transform_forward(thread, group, arrived_planes_.data(), row_doubles_);
    }
}

void Box::transform_forward(const FieldSource& source) {
    to_bundles_.begin(bundle_rows);
    times_->time(Part::combs, [&] { team_->run([&](int thread) { forward_combs(thread, source); }); });
    times_->time(Part::exchange, [&] { to_bundles_.complete(); });
    times_->time(Part::bundles, [&] { team_->run([&](int thread) { forward_bundles(thread); }); });
}

void Box::inverse_bundles(int thread, const Evolution& evolution) {
    const auto targets = targets_of(thread);
    for (int group = thread; group < spectrum_.groups(); group += team_->threads()) {
        const int bundle = spectrum_.bundle_of(group);
        to_combs_.find_targets(bundle, targets);
        spectrum_.transform_inverse(thread, group, evolution, targets.data(), row_doubles_);
        finished(to_combs_, thread, bundle);
    }
}

void Box::begin_inverse(int thread, int comb) {
    const int together = team_->threads();
    for (int part = 0; part < decomposition_.cut.parts(); ++part) {
        combs_.inverse_columns(thread, blocks_of(part),
                               {.element = arrived_bundles_.data() + part * decomposition_.all_bundles(),
                                .start_doubles = comb * row_doubles_},
                               comb + together < combs() ? together * row_doubles_ : 0);
    }
}

void Box::end_inverse(int thread, int comb) {
    combs_.inverse_rows(thread, {.element = field_blocks_.data(),
                                 .start_doubles = field_comb(comb),
                                 .next_doubles = field_row_doubles()});
}

void Box::inverse_combs(int thread) {
    for_each_comb(
        thread, [&](int comb) { begin_inverse(thread, comb); }, [&](int comb) { end_inverse(thread, comb); });
}

void Box::transform_inverse(const Evolution& evolution) {
    to_combs_.begin(spectrum_.groups_of_bundle());
    times_->time(Part::bundles, [&] { team_->run([&](int thread) { inverse_bundles(thread, evolution); }); });
    times_->time(Part::exchange, [&] { to_combs_.complete(); });
    times_->time(Part::combs, [&] { team_->run([&](int thread) { inverse_combs(thread); }); });
}

bool Box::has_row(int y, int z) const {
    return decomposition_.comb_rows().has(y / int{bundle_rows}) && decomposition_.planes().has(z);
}

const double* Box::point(int x, int y, int z) const {
    const std::ptrdiff_t row = y / bundle_rows - decomposition_.comb_rows().first;
    return field_blocks_[static_cast<std::size_t>(x / block_points)] +
           field_comb((z - decomposition_.planes().first) * int{bundle_rows} + y % int{bundle_rows}) +
           row * field_row_doubles() + x % block_points;
}

}  // namespace tare::npb::ft
