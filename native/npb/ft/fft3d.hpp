// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "npb/common/buffer.hpp"
#include "npb/common/team.hpp"
#include "npb/common/timing.hpp"
#include "npb/common/world.hpp"
#include "npb/ft/tiles.hpp"
#include "npb/ft/transpose.hpp"

namespace tare::npb::ft {

/// Parts of the timed region: tables and factors; transforms along x and half of y, with the initial field;
/// the other half of y and z, with the evolution; waiting for data of other ranks; checksums.
enum class Part { tables, xy, yz, transpose, checksum };

constexpr std::size_t part_count = 5;

using PartTimes = Phases<Part, part_count>;

/// Writes a whole row of the field as blocks; threads call it at the same time, each for other rows.
using FieldSource = std::function<void(int z, int y, double* to)>;

/// A periodic box of complex numbers, cut among the ranks: its spectrum, and the field that this becomes.
///
/// A transform of three dimensions goes twice over the memory, in tiles that fit the second cache: xy tiles
/// with the pencils along x and the first factor of those along y, yz tiles with the last butterflies along y
/// and the pencils along z. In between comes the transpose among the ranks, if there are several. The tiles
/// are dealt out to the threads one by one, so that they are finished about in the order in which they are
/// sent, by thread 0.
class Fft3d {
  public:
    Fft3d(const Decomposition& decomposition, const World& world, Messages messages, Simd simd, Team& team,
          PartTimes& times);

    void make_tables();
    /// Makes the spectrum of a field.
    void transform_forward(const FieldSource& source);
    /// Makes the field of the evolved spectrum; the spectrum stays. Points are not divided by their number.
    void transform_inverse(const Evolution& evolution);

    [[nodiscard]] const Spectrum& spectrum() const { return spectrum_; }
    /// Whether this rank has the field's row y of plane z.
    [[nodiscard]] bool has_row(int y, int z) const;
    /// The address of a point's real part; its imaginary part is `block_points` further.
    [[nodiscard]] const double* point(int x, int y, int z) const;

  private:
    void allocate();
    /// This rank's xy tiles, eight of each of its planes.
    [[nodiscard]] int tiles() const { return decomposition_.planes().count * int{y_radix}; }
    /// Both steps of each xy tile of this thread.
    template <typename Begin, typename End>
    void for_each_tile(int thread, const Begin& begin, const End& end);
    /// What each thread does of a transform.
    void forward_xy(int thread, const FieldSource& source);
    void forward_yz(int thread);
    void inverse_yz(int thread, const Evolution& evolution);
    void inverse_xy(int thread);
    void begin_forward(int thread, int tile, const FieldSource& source);
    void end_forward(int thread, int tile);
    void begin_inverse(int thread, int tile);
    void end_inverse(int thread, int tile);
    /// A part's blocks in an xy tile (see `Cut::parts`).
    [[nodiscard]] Share<int> blocks_of(int part) const {
        return share_of(decomposition_.tile_blocks().count, decomposition_.cut.parts(), part);
    }
    /// The thread's memory for the addresses that an item is packed to.
    [[nodiscard]] std::span<double*> targets_of(int thread);
    /// A part of the item is written.
    static void finished(Transpose& transpose, int thread, int item);
    /// An xy tile of the field from the start of its memory on, and from one row of it to the next.
    [[nodiscard]] std::ptrdiff_t field_tile(std::ptrdiff_t tile) const;
    [[nodiscard]] std::ptrdiff_t field_row_doubles() const;

    Decomposition decomposition_;
    Communicator communicator_;
    World ranks_;
    Team* team_;
    PartTimes* times_;
    /// This rank's blocks of a row.
    std::ptrdiff_t row_doubles_;
    XyTransform xy_;
    Spectrum spectrum_;
    Transpose to_yz_;
    Transpose to_xy_;
    Buffer<double> outgoing_;
    Buffer<double> arriving_;
    std::vector<double*> field_blocks_;
    /// Of each part of each butterfly, this rank's first plane; and of each plane, this rank's first
    /// butterfly.
    std::vector<double*> arrived_butterflies_;
    std::vector<double*> arrived_planes_;
    /// One for each thread.
    std::vector<Buffer<double*>> targets_;
};

}  // namespace tare::npb::ft
