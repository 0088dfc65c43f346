// SPDX-License-Identifier: Apache-2.0
#include "npb/flow/border.hpp"

#include <array>
#include <cstddef>

namespace tare::npb::flow {

namespace {

/// `count` stretches of `length` doubles, `stride` apart, as one message.
class Stretches {
  public:
    Stretches(int count, std::ptrdiff_t length, std::ptrdiff_t stride) {
        MPI_Type_vector(count, static_cast<int>(length), static_cast<int>(stride), MPI_DOUBLE, &type_);
        MPI_Type_commit(&type_);
    }
    Stretches(const Stretches&) = delete;
    Stretches& operator=(const Stretches&) = delete;
    Stretches(Stretches&&) = delete;
    Stretches& operator=(Stretches&&) = delete;
    ~Stretches() { MPI_Type_free(&type_); }

    [[nodiscard]] MPI_Datatype get() const { return type_; }

  private:
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// The layers at both ends of one axis: the first ones owned, the last ones owned, and the ghost_layers
/// beyond.
struct Layers {
    double* first;
    double* last;
    double* before;
    double* after;
};

enum Tag { upward, downward };

void exchange(const Layers& layers, MPI_Datatype type, const Neighbours& neighbours, MPI_Comm communicator) {
    std::array<MPI_Request, 4> requests{};
    MPI_Irecv(layers.before, 1, type, neighbours.previous, upward, communicator, requests.data());
    MPI_Irecv(layers.after, 1, type, neighbours.next, downward, communicator, &requests[1]);
    MPI_Isend(layers.last, 1, type, neighbours.next, upward, communicator, &requests[2]);
    MPI_Isend(layers.first, 1, type, neighbours.previous, downward, communicator, &requests[3]);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

}  // namespace

void exchange_borders(Field& field, const ProcessGrid& grid) {
    const auto view = field.view();
    const int y = field.block().y.count;
    const int z = field.block().z.count;
    const Stretches rows{z, ghost_layers * view.row, view.plane};
    exchange({.first = view.at(0, 0),
              .last = view.at(0, y - ghost_layers),
              .before = view.at(0, -ghost_layers),
              .after = view.at(0, y)},
             rows.get(), grid.y, grid.world.communicator);
    const Stretches planes{ghost_layers, y * view.row, view.plane};
    exchange({.first = view.at(0, 0),
              .last = view.at(z - ghost_layers, 0),
              .before = view.at(-ghost_layers, 0),
              .after = view.at(z, 0)},
             planes.get(), grid.z, grid.world.communicator);
}

}  // namespace tare::npb::flow
