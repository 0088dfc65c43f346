// SPDX-License-Identifier: Apache-2.0
#include "npb/lu/norms.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <vector>

namespace tare::npb::lu {

namespace {

/// What `of_plane(z)` gives of each of the block's planes, made by all threads.
template <typename OfPlane>
auto of_planes(const Block& block, Team& team, const OfPlane& of_plane) {
    std::vector<decltype(of_plane(0))> planes(static_cast<std::size_t>(block.z.count));
    team.run([&](int thread) {
        const Share<int> own = team.part(thread, block.z.count);
        for (int z = own.first; z < own.end(); ++z) {
            planes[static_cast<std::size_t>(z)] = of_plane(z);
        }
    });
    return planes;
}

/// Calls `visit(x, y)` for each point of a plane.
template <typename Visit>
void for_each_point(const Block& block, const Visit& visit) {
    for (int y = 0; y < block.y.count; ++y) {
        for (int x = 0; x < block.x.count; ++x) {
            visit(x, y);
        }
    }
}

double pressure_of(const Point& point) {
    const auto& [density, momentum_x, momentum_y, momentum_z, energy] = point;
    const double squares = momentum_x * momentum_x + momentum_y * momentum_y + momentum_z * momentum_z;
    return flow::pressure_factor * (energy - squares / (2 * density));
}

/// The box's extent along an axis, in coordinates of the whole cube.
struct Side {
    int first;
    int last;

    [[nodiscard]] bool has(int point) const { return point >= first && point <= last; }
    [[nodiscard]] bool ends_at(int point) const { return point == first || point == last; }
    /// The trapezoid rule's weight: of a cell's edge half as much as inside.
    [[nodiscard]] double weight(int point) const { return ends_at(point) ? 1.0 / 2 : 1.0; }
};

/// A point's weight in the faces across each axis, as often as it lies in one.
double weight_of(const std::array<Side, 3>& box, const std::array<int, 3>& point) {
    std::array<double, 3> weight{};
    std::array<bool, 3> at_end{};
    for (std::size_t axis = 0; axis < box.size(); ++axis) {
        if (!box.at(axis).has(point.at(axis))) {
            return 0;
        }
        weight.at(axis) = box.at(axis).weight(point.at(axis));
        at_end.at(axis) = box.at(axis).ends_at(point.at(axis));
    }
    const auto& [x, y, z] = weight;
    return (at_end[0] ? y * z : 0) + (at_end[1] ? x * z : 0) + (at_end[2] ? x * y : 0);
}

/// Pressures at a block's points of a plane, [a][b], and at the next points after these.
class Pressures {
  public:
    template <typename OfPoint>
    Pressures(const Extent& a, const Extent& b, const OfPoint& of_point)
        : a_{a.with_boundary()},
          b_{b.with_boundary()},
          values_(static_cast<std::size_t>(a_.count + 1) * static_cast<std::size_t>(b_.count + 1)) {
        for (int i = a_.first; i < a_.end(); ++i) {
            for (int j = b_.first; j < b_.end(); ++j) {
                at(i, j) = of_point(i, j);
            }
        }
    }

    [[nodiscard]] double& at(int i, int j) {
        const int index = (i - a_.first) * (b_.count + 1) + j - b_.first;
        return values_[static_cast<std::size_t>(index)];
    }
    [[nodiscard]] const Share<int>& a() const { return a_; }
    [[nodiscard]] const Share<int>& b() const { return b_; }

  private:
    Share<int> a_;
    Share<int> b_;
    std::vector<double> values_;
};

/// The surface integral with the reference's messages: each rank integrates over the cells that begin at its
/// points, and gets the pressures at their ends from the blocks after its own.
class SurfaceByCells {
  public:
    SurfaceByCells(const Field& field, const Block& block, const std::array<Side, 3>& box)
        : field_{field}, block_{block}, box_{box} {}

    [[nodiscard]] double integral() const {
        const double sum = summed(across_z()) + summed(across_y()) + summed(across_x());
        return sum * block_.spacing() * block_.spacing();
    }

  private:
    /// Where a row of a face begins in the block, and where in the next one.
    struct End {
        double* first;
        double* next;
    };
    using Ends = std::vector<End>;

    [[nodiscard]] double summed(double here) const {
        double sum = 0;
        MPI_Allreduce(&here, &sum, 1, MPI_DOUBLE, MPI_SUM, block_.communicator);
        return sum;
    }

    [[nodiscard]] double pressure(int x, int y, int z) const { return pressure_of(field_.point(x, y, z)); }

    /// Both faces share their messages.
    [[nodiscard]] double across_z() const {
        const auto pressures_at = [&](int end) {
            return Pressures{block_.x, block_.y,
                             [&](int x, int y) { return pressure(x, y, end - block_.z.first); }};
        };
        std::array<Pressures, 2> faces{pressures_at(box_[2].first), pressures_at(box_[2].last)};
        const Share<int>& x_points = faces[0].a();
        const Share<int>& y_points = faces[0].b();
        Ends ends;
        for (Pressures& face : faces) {
            for (int x = x_points.first; x < x_points.end(); ++x) {
                ends.push_back({&face.at(x, y_points.first), &face.at(x, y_points.end())});
            }
        }
        take_from_next(block_.y, ends);
        ends.clear();
        // The reference's message has the corner before the block too, which no cell needs.
        double unused = 0;
        for (Pressures& face : faces) {
            ends.push_back({&unused, &unused});
            for (int y = y_points.first; y <= y_points.end(); ++y) {
                ends.push_back({&face.at(x_points.first, y), &face.at(x_points.end(), y)});
            }
        }
        take_from_next(block_.x, ends);
        return cells(faces[0], block_.x, box_[0], block_.y, box_[1]) +
               cells(faces[1], block_.x, box_[0], block_.y, box_[1]);
    }

    [[nodiscard]] double across_y() const {
        return faces_across(block_.y, box_[1], block_.x, box_[0],
                            [&](int x, int y, int z) { return pressure(x, y, z); });
    }

    [[nodiscard]] double across_x() const {
        return faces_across(block_.x, box_[0], block_.y, box_[1],
                            [&](int y, int x, int z) { return pressure(x, y, z); });
    }

    /// The sum over both faces, as far as the block has points of them; `of_point` is called with the points
    /// along and across the face, and z.
    template <typename OfPoint>
    [[nodiscard]] double faces_across(const Extent& across, const Side& range, const Extent& along,
                                      const Side& side, const OfPoint& of_point) const {
        double sum = 0;
        for (const int end : {range.first, range.last}) {
            const int point = end - across.first;
            if (across.with_boundary().has(point)) {
                Pressures face{along, block_.z, [&](int i, int z) { return of_point(i, point, z); }};
                Ends ends;
                for (int z = face.b().first; z < face.b().end(); ++z) {
                    ends.push_back({&face.at(face.a().first, z), &face.at(face.a().end(), z)});
                }
                take_from_next(along, ends);
                sum += cells(face, along, side, block_.z, box_[2]);
            }
        }
        return sum;
    }

    /// Sends the first pressures to the block before, and takes the block after's.
    void take_from_next(const Extent& extent, const Ends& ends) const {
        std::vector<double> sent;
        std::ranges::transform(ends, std::back_inserter(sent), [](const End& end) { return *end.first; });
        std::vector<double> received(sent.size());
        const auto count = static_cast<int>(sent.size());
        MPI_Sendrecv(sent.data(), count, MPI_DOUBLE, extent.previous, 0, received.data(), count, MPI_DOUBLE,
                     extent.next, 0, block_.communicator, MPI_STATUS_IGNORE);
        for (std::size_t number = 0; number < ends.size(); ++number) {
            *ends[number].next = received[number];
        }
    }

    /// The mean pressures of the cells inside the box that begin at the block's points.
    [[nodiscard]] static double cells(Pressures& pressures, const Extent& a, const Side& a_side,
                                      const Extent& b, const Side& b_side) {
        const auto is_inside = [](const Extent& extent, const Side& side, int point) {
            return side.has(extent.first + point) && side.has(extent.first + point + 1);
        };
        double sum = 0;
        for (int i = pressures.a().first; i < pressures.a().end(); ++i) {
            for (int j = pressures.b().first; j < pressures.b().end(); ++j) {
                if (is_inside(a, a_side, i) && is_inside(b, b_side, j)) {
                    sum += pressures.at(i, j) + pressures.at(i + 1, j) + pressures.at(i, j + 1) +
                           pressures.at(i + 1, j + 1);
                }
            }
        }
        return sum / 4;
    }

    const Field& field_;
    const Block& block_;
    const std::array<Side, 3>& box_;
};

/// From the sums of squares of each rank's planes.
Norms root_mean(const std::vector<Norms>& squares_of_planes, const Block& block) {
    Norms squares{};
    for (const Norms& of_plane : squares_of_planes) {
        std::ranges::transform(squares, of_plane, squares.begin(), std::plus{});
    }
    Norms norms{};
    MPI_Allreduce(squares.data(), norms.data(), quantities, MPI_DOUBLE, MPI_SUM, block.communicator);
    for (double& norm : norms) {
        norm = std::sqrt(norm / std::pow(block.edge - 2, 3));
    }
    return norms;
}

/// Of a point of the block, from 0 to 1.
double coordinate(const Block& block, const Extent& extent, int point) {
    return static_cast<double>(extent.first + point) / (block.edge - 1);
}

}  // namespace

Norms residual_norms(GroupField& residual, const Block& block, Team& team) {
    const auto squares = [&](int z) {
        Norms sums{};
        const std::span<const double> plane = residual.plane(z);
        for (std::size_t index = 0; index < plane.size(); ++index) {
            sums.at(index / group % quantities) += plane[index] * plane[index];
        }
        return sums;
    };
    return root_mean(of_planes(block, team, squares), block);
}

Norms error_norms(const Field& field, const Block& block, Team& team) {
    const auto squares = [&](int z) {
        Norms sums{};
        for_each_point(block, [&](int x, int y) {
            const Point here = field.point(x, y, z);
            const Point exact = flow::exact(coordinate(block, block.x, x), coordinate(block, block.y, y),
                                            coordinate(block, block.z, z));
            for (std::size_t m = 0; m < here.size(); ++m) {
                const double error = exact.at(m) - here.at(m);
                sums.at(m) += error * error;
            }
        });
        return sums;
    };
    return root_mean(of_planes(block, team, squares), block);
}

double surface_integral(const Field& field, const Block& block, Team& team) {
    const int last = block.edge - 2;
    const std::array<Side, 3> box{{{1, last}, {1, last - 1}, {2, last}}};
    if (block.messages == Messages::reference) {
        return SurfaceByCells{field, block, box}.integral();
    }
    const auto pressures = [&](int z) {
        double sum = 0;
        for_each_point(block, [&](int x, int y) {
            const double weight = weight_of(box, {block.x.first + x, block.y.first + y, block.z.first + z});
            if (weight > 0) {
                sum += weight * pressure_of(field.point(x, y, z));
            }
        });
        return sum;
    };
    const std::vector<double> planes = of_planes(block, team, pressures);
    const double here = std::accumulate(planes.begin(), planes.end(), 0.0);
    double sum = 0;
    MPI_Allreduce(&here, &sum, 1, MPI_DOUBLE, MPI_SUM, block.communicator);
    return sum * block.spacing() * block.spacing();
}

}  // namespace tare::npb::lu
