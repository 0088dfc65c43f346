// SPDX-License-Identifier: Apache-2.0
#include "hpl/update.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "hpl/products.hpp"

namespace tare::hpl {

namespace {

/// Which rows a message of each process holds, and where it starts, in numbers.
class Messages {
  public:
    Messages(int processes, int count)
        : rows_(static_cast<std::size_t>(processes)),
          lengths_(rows_.size()),
          starts_(rows_.size()),
          count_{count} {}

    void add(int process, int row) { rows_.at(static_cast<std::size_t>(process)).push_back(row); }

    void close() {
        std::transform(rows_.begin(), rows_.end(), lengths_.begin(),
                       [this](const auto& rows) { return static_cast<int>(rows.size()) * count_; });
        std::exclusive_scan(lengths_.begin(), lengths_.end(), starts_.begin(), 0);
    }

    [[nodiscard]] const std::vector<int>& rows(int process) const {
        return rows_.at(static_cast<std::size_t>(process));
    }
    [[nodiscard]] std::vector<int> all_rows() const {
        std::vector<int> all;
        for (const auto& rows : rows_) {
            all.insert(all.end(), rows.begin(), rows.end());
        }
        return all;
    }
    [[nodiscard]] int length(int process) const { return lengths_.at(static_cast<std::size_t>(process)); }
    [[nodiscard]] const int* lengths() const { return lengths_.data(); }
    [[nodiscard]] const int* starts() const { return starts_.data(); }

  private:
    std::vector<std::vector<int>> rows_;
    std::vector<int> lengths_;
    std::vector<int> starts_;
    int count_;
};

/// Calls `copy(row, column, place)` for local rows of `count` columns: a few columns at a time, of which a
/// row's elements are near each other in the rows' buffer.
template <typename Copy>
void each_element(const std::vector<int>& rows, int count, const Copy& copy) {
    constexpr int together = 16;
    for (int begin = 0; begin < count; begin += together) {
        const int end = std::min(begin + together, count);
        std::size_t place = 0;
        for (const int row : rows) {
            for (int column = begin; column < end; ++column) {
                copy(row, column, place + static_cast<std::size_t>(column));
            }
            place += static_cast<std::size_t>(count);
        }
    }
}

void pack(const View& columns, const std::vector<int>& rows, int count, std::span<double> packed) {
    each_element(rows, count,
                 [&](int row, int column, std::size_t place) { packed[place] = columns.at(row, column); });
}

void unpack(std::span<const double> packed, const std::vector<int>& rows, int count, const View& columns) {
    each_element(rows, count,
                 [&](int row, int column, std::size_t place) { columns.at(row, column) = packed[place]; });
}

std::vector<int> local_rows(const std::vector<int>& global, const Axis& rows) {
    std::vector<int> local(global.size());
    std::transform(global.begin(), global.end(), local.begin(), [&](int row) { return rows.local(row); });
    return local;
}

std::size_t room(const Problem& problem, const Matrix& matrix) {
    return static_cast<std::size_t>(problem.block) * static_cast<std::size_t>(std::max(matrix.columns(), 1));
}

}  // namespace

Swaps Swaps::of(const Panel& panel) {
    std::map<int, int> content;
    const auto content_of = [&](int row) -> int& { return content.try_emplace(row, row).first->second; };
    for (int column = 0; column < panel.width(); ++column) {
        std::swap(content_of(panel.first() + column), content_of(panel.pivot(column)));
    }
    Swaps swaps;
    for (const auto& [place, source] : content) {
        if (place < panel.end()) {
            swaps.sources.push_back(source);
        } else {
            swaps.displaced.push_back({.from = source, .to = place});
        }
    }
    return swaps;
}

Update::Update(const Problem& problem, const Matrix& matrix)
    : upper_{room(problem, matrix)},
      sent_{room(problem, matrix)},
      received_{problem.process_rows > 1 ? room(problem, matrix) : 0} {}

/// Puts the rows that come into the panel's place into `upper_`, in all processes of the column.
void Update::gather(const Swaps& swaps, const View& columns, int count, const Grid& grid) {
    const Axis& rows = grid.rows;
    Messages messages{rows.processes, count};
    for (const int source : swaps.sources) {
        messages.add(rows.owner(source), source);
    }
    messages.close();
    const auto own = local_rows(messages.rows(rows.index), rows);
    if (rows.processes == 1) {
        pack(columns, own, count, upper_.span());
        return;
    }
    pack(columns, own, count, sent_.span());
    MPI_Allgatherv(sent_.data(), messages.length(rows.index), MPI_DOUBLE, received_.data(),
                   messages.lengths(), messages.starts(), MPI_DOUBLE, grid.in_column.get());
    std::map<int, int> places;
    for (const int source : swaps.sources) {
        places.emplace(source, static_cast<int>(places.size()));
    }
    const auto length = static_cast<std::size_t>(count);
    std::size_t start = 0;
    for (const int source : messages.all_rows()) {
        const auto row = received_.span().subspan(start, length);
        std::copy(row.begin(), row.end(),
                  upper_.span().subspan(static_cast<std::size_t>(places.at(source)) * length).begin());
        start += length;
    }
}

/// Brings the panel's rows to where the pivots were.
void Update::scatter(const Swaps& swaps, const View& columns, int count, const Grid& grid) {
    const Axis& rows = grid.rows;
    Messages sources{rows.processes, count};
    Messages targets{rows.processes, count};
    for (const auto& row : swaps.displaced) {
        sources.add(rows.owner(row.to), row.from);
        targets.add(rows.owner(row.to), row.to);
    }
    sources.close();
    targets.close();
    const int root = swaps.displaced.empty() ? 0 : rows.owner(swaps.displaced.front().from);
    if (rows.index == root) {
        pack(columns, local_rows(sources.all_rows(), rows), count, sent_.span());
    }
    if (rows.processes > 1) {
        MPI_Scatterv(sent_.data(), sources.lengths(), sources.starts(), MPI_DOUBLE, received_.data(),
                     targets.length(rows.index), MPI_DOUBLE, root, grid.in_column.get());
    }
    const auto arrived = rows.processes > 1 ? received_.span() : sent_.span();
    unpack(arrived, local_rows(targets.rows(rows.index), rows), count, columns);
}

void Update::apply(Panel& panel, int begin, int end, Matrix& matrix, const Grid& grid, const Blas& blas) {
    const int count = end - begin;
    if (count == 0) {
        return;
    }
    const View columns = matrix.view().from(0, begin);
    const int width = panel.width();
    const Swaps swaps = Swaps::of(panel);
    gather(swaps, columns, count, grid);
    scatter(swaps, columns, count, grid);
    const View top = panel.top();
    blas.trsm("R", "L", "T", "U", &count, &width, &plus_one, top.values.data(), &top.lead, upper_.data(),
              &count);
    if (grid.rows.owns(panel.first())) {
        std::vector<int> own(static_cast<std::size_t>(width));
        std::iota(own.begin(), own.end(), grid.rows.local(panel.first()));
        unpack(upper_.span(), own, count, columns);
    }
    if (panel.rows() > 0) {
        const Product product{.rows = panel.rows(), .columns = count, .inner = width, .transposed = true};
        product.subtract(blas, panel.lower(), {.values = upper_.span(), .lead = count},
                         columns.from(matrix.rows() - panel.rows(), 0));
    }
}

}  // namespace tare::hpl
