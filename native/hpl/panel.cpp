// SPDX-License-Identifier: Apache-2.0
#include "hpl/panel.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "hpl/products.hpp"

namespace tare::hpl {

namespace {

std::size_t length_of(int block, int rows) {
    const auto width = static_cast<std::size_t>(block);
    return width * (1 + width + static_cast<std::size_t>(rows));
}

/// Factors columns by halves (Toledo 1997), so that most of the work is in matrix products.
class Factorization {
  public:
    Factorization(Panel& panel, Matrix& matrix, const Grid& grid, const Blas& blas)
        : panel_{&panel},
          grid_{&grid},
          blas_{&blas},
          columns_{matrix.view().from(0, grid.columns.local(panel.first()))},
          rows_{matrix.rows()},
          row_(static_cast<std::size_t>(panel.width())) {}

    void factor() {
        factor(0, panel_->width());
        keep();
    }

  private:
    // NOLINTNEXTLINE(misc-no-recursion): as deep as the width can be halved
    void factor(int begin, int count) {
        constexpr int narrow = 8;
        if (count <= narrow) {
            factor_narrow(begin, count);
            return;
        }
        const int half = count / 2;
        factor(begin, half);
        update(begin, half, count - half);
        factor(begin + half, count - half);
    }

    void factor_narrow(int begin, int count) {
        for (int column = begin; column < begin + count; ++column) {
            swap_pivot(column);
            eliminate(column, begin + count);
        }
    }

    /// The first local row below the place of a column's pivot.
    [[nodiscard]] int below(int column) const {
        return grid_->rows.local_count(panel_->first() + column + 1);
    }

    /// Divides a column by its pivot, and subtracts its products from those up to `end`.
    void eliminate(int column, int end) {
        const View top = panel_->top();
        const int start = below(column);
        const double pivot = top.at(column, column);
        const int pivot_row = column;
        const auto part = [&](int number) {
            return columns_.values.subspan(columns_.place(0, number), static_cast<std::size_t>(rows_))
                .subspan(static_cast<std::size_t>(start));
        };
        const auto factors = part(column);
        std::transform(factors.begin(), factors.end(), factors.begin(),
                       [pivot](double value) { return value / pivot; });
        for (int other = column + 1; other < end; ++other) {
            const double weight = top.at(pivot_row, other);
            const auto values = part(other);
            std::transform(values.begin(), values.end(), factors.begin(), values.begin(),
                           [weight](double value, double factor) { return value - factor * weight; });
        }
    }

    /// Brings `count` columns after the `done` ones from `begin` on up to date with these.
    void update(int begin, int done, int count) {
        const View top = panel_->top();
        const int right = begin + done;
        blas_->trsm("L", "L", "N", "U", &done, &count, &plus_one, top.from(begin, begin).values.data(),
                    &top.lead, top.from(begin, right).values.data(), &top.lead);
        const int start = below(right - 1);
        if (start < rows_) {
            Product{.rows = rows_ - start, .columns = count, .inner = done}.subtract(
                *blas_, columns_.from(start, begin), top.from(begin, right), columns_.from(start, right));
        }
    }

    /// The largest element of a column in all processes, and its row.
    [[nodiscard]] int find_pivot(int column) const {
        struct {
            double magnitude;
            int row;
        } best{.magnitude = -1.0, .row = 0};
        for (int row = grid_->rows.local_count(panel_->first() + column); row < rows_; ++row) {
            const double magnitude = std::abs(columns_.at(row, column));
            if (magnitude > best.magnitude) {
                best = {.magnitude = magnitude, .row = grid_->rows.global(row)};
            }
        }
        if (grid_->rows.processes > 1) {
            MPI_Allreduce(MPI_IN_PLACE, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, grid_->in_column.get());
        }
        if (!(best.magnitude > 0)) {
            throw std::runtime_error("the matrix is singular");
        }
        return best.row;
    }

    void swap_pivot(int column) {
        const int place = panel_->first() + column;
        const int pivot = find_pivot(column);
        const View top = panel_->top();
        panel_->set_pivot(column, pivot);
        take(pivot);
        write(top, column);
        if (pivot != place) {
            move(place, pivot);
        }
    }

    /// Brings a row of the panel to all processes of the column.
    void take(int global) {
        read(global);
        if (grid_->rows.processes > 1) {
            MPI_Bcast(row_.data(), panel_->width(), MPI_DOUBLE, grid_->rows.owner(global),
                      grid_->in_column.get());
        }
    }

    void move(int place, int pivot) {
        const int source = grid_->rows.owner(place);
        const int target = grid_->rows.owner(pivot);
        read(place);
        if (source != target && grid_->rows.index == source) {
            MPI_Send(row_.data(), panel_->width(), MPI_DOUBLE, target, 0, grid_->in_column.get());
        } else if (source != target && grid_->rows.index == target) {
            MPI_Recv(row_.data(), panel_->width(), MPI_DOUBLE, source, 0, grid_->in_column.get(),
                     MPI_STATUS_IGNORE);
        }
        if (grid_->rows.index == target) {
            write(columns_, grid_->rows.local(pivot));
        }
    }

    void write(const View& target, int row) const {
        for (int other = 0; other < panel_->width(); ++other) {
            target.at(row, other) = row_[static_cast<std::size_t>(other)];
        }
    }

    void read(int global) {
        if (grid_->rows.owns(global)) {
            for (int other = 0; other < panel_->width(); ++other) {
                row_[static_cast<std::size_t>(other)] = columns_.at(grid_->rows.local(global), other);
            }
        }
    }

    /// Copies L for the other processes, and U into the matrix.
    void keep() {
        const View top = panel_->top();
        const View lower = panel_->lower();
        const int start = rows_ - panel_->rows();
        const bool has_top = grid_->rows.owns(panel_->first());
        const int top_start = grid_->rows.local(panel_->first());
        for (int column = 0; column < panel_->width(); ++column) {
            for (int row = 0; row < panel_->rows(); ++row) {
                lower.at(row, column) = columns_.at(start + row, column);
            }
            for (int row = 0; has_top && row < panel_->width(); ++row) {
                columns_.at(top_start + row, column) = top.at(row, column);
            }
        }
    }

    Panel* panel_;
    const Grid* grid_;
    const Blas* blas_;
    /// The panel's columns in the matrix.
    View columns_;
    int rows_;
    /// One row of the panel.
    std::vector<double> row_;
};

}  // namespace

Panel::Panel(const Problem& problem, const Grid& grid)
    : size_{problem.size},
      block_{problem.block},
      values_{length_of(problem.block, grid.rows.local_count(problem.size))} {}

void Panel::begin(int first, const Grid& grid) {
    first_ = first;
    width_ = std::min(block_, size_ - first);
    rows_ = grid.rows.local_count(size_) - grid.rows.local_count(end());
}

int Panel::pivot(int column) const {
    return static_cast<int>(values_.span()[static_cast<std::size_t>(column)]);
}

void Panel::set_pivot(int column, int row) { values_.span()[static_cast<std::size_t>(column)] = row; }

View Panel::top() {
    const auto width = static_cast<std::size_t>(width_);
    return {.values = values_.span().subspan(width, width * width), .lead = width_};
}

View Panel::lower() {
    const auto width = static_cast<std::size_t>(width_);
    return {.values = values_.span().subspan(width * (1 + width)), .lead = std::max(rows_, 1)};
}

void Panel::send(const Grid& grid, MPI_Request& request) {
    if (grid.columns.processes > 1) {
        MPI_Ibcast(values_.data(), static_cast<int>(length_of(width_, rows_)), MPI_DOUBLE,
                   grid.columns.owner(first_), grid.in_row.get(), &request);
    }
}

void factor_panel(Panel& panel, Matrix& matrix, const Grid& grid, const Blas& blas) {
    Factorization{panel, matrix, grid, blas}.factor();
}

}  // namespace tare::hpl
