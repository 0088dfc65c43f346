// SPDX-License-Identifier: Apache-2.0
#include "npb/cg/multiply.hpp"

#include <algorithm>

namespace tare::npb::cg {

Multiply::Multiply(Matrix& matrix, const GridShare& share, Exchange& exchange, Team& team, Simd simd)
    : matrix_{matrix, share, team.threads()},
      exchange_{&exchange},
      team_{&team},
      functions_{product::functions(simd)},
      has_others_{share.has_others()},
      part_{share.has_parts ? static_cast<std::size_t>(share.rows().count) : 0} {}

template <typename Work>
void Multiply::for_each_block(const Work& work) {
    team_->run([&](int thread) {
        const Share<int> blocks = team_->part(thread, matrix_.row_blocks());
        for (int block = blocks.first; block < blocks.end(); ++block) {
            work(block, thread);
        }
    });
}

/// What needs the own piece alone, while the others' come.
void Multiply::start_rows(std::span<const double> gathered, std::span<double> rows) {
    for_each_block([&](int block, int thread) {
        const Share<int> places = matrix_.block_rows(block);
        std::fill_n(rows.begin() + places.first, places.count, 0.0);
        functions_.add(matrix_.own_columns(block), gathered.data(), rows.data());
        if (thread == 0) {
            exchange_->progress();
        }
    });
}

void Multiply::finish_rows(std::span<const double> gathered, std::span<double> rows) {
    for_each_block([&](int block, int /*thread*/) {
        functions_.add(matrix_.other_columns(block), gathered.data(), rows.data());
    });
}

void Multiply::operator()(std::span<double> gathered, std::span<double> own_product, PartTimes& times) {
    const bool has_parts = part_.size() > 0;
    const auto rows = has_parts ? part_.span() : own_product;
    times.time(Part::exchange, [&] { exchange_->start_gather(gathered); });
    times.time(Part::multiply, [&] { start_rows(gathered, rows); });
    if (has_others_) {
        times.time(Part::exchange, [&] { exchange_->finish_gather(); });
        times.time(Part::multiply, [&] { finish_rows(gathered, rows); });
    }
    if (has_parts) {
        times.time(Part::exchange, [&] { exchange_->sum_parts(rows, own_product); });
    }
    ++products_;
}

}  // namespace tare::npb::cg
