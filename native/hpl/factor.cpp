// SPDX-License-Identifier: Apache-2.0
#include "hpl/factor.hpp"

#include <array>
#include <utility>

#include "hpl/panel.hpp"
#include "hpl/update.hpp"

namespace tare::hpl {

namespace {

class Elimination {
  public:
    Elimination(const Problem& problem, Matrix& matrix, const Grid& grid, const Blas& blas)
        : matrix_{&matrix},
          grid_{&grid},
          blas_{&blas},
          update_{problem, matrix},
          panels_{Panel{problem, grid}, Panel{problem, grid}} {}

    void run() {
        Panel* current = &panels_.front();
        Panel* next = &panels_.back();
        current->begin(0, *grid_);
        prepare(*current);
        wait();
        while (current->end() < matrix_->size()) {
            const int begin = look_ahead(*current, *next);
            apply(*current, begin, matrix_->columns());
            wait();
            std::swap(current, next);
        }
        apply(*current, grid_->columns.local_count(current->end()), matrix_->columns());
    }

  private:
    /// Factors a panel, whose columns are up to date, and begins to send it.
    void prepare(Panel& panel) {
        if (grid_->columns.owns(panel.first())) {
            factor_panel(panel, *matrix_, *grid_, *blas_);
        }
        panel.send(*grid_, request_);
    }

    /// Brings the next panel's columns up to date and prepares it; the first local column that is still to
    /// do.
    int look_ahead(Panel& current, Panel& next) {
        const int first = current.end();
        int begin = grid_->columns.local_count(first);
        next.begin(first, *grid_);
        if (grid_->columns.owns(first)) {
            apply(current, begin, begin + next.width());
            begin += next.width();
        }
        prepare(next);
        return begin;
    }

    void apply(Panel& panel, int begin, int end) {
        update_.apply(panel, begin, end, *matrix_, *grid_, *blas_);
    }

    void wait() {
        MPI_Wait(&request_, MPI_STATUS_IGNORE);  // NOLINT(clang-analyzer-optin.mpi.*): `Panel::send` began it
    }

    Matrix* matrix_;
    const Grid* grid_;
    const Blas* blas_;
    Update update_;
    std::array<Panel, 2> panels_;
    MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

void factor(const Problem& problem, Matrix& matrix, const Grid& grid, const Blas& blas) {
    Elimination{problem, matrix, grid, blas}.run();
}

}  // namespace tare::hpl
