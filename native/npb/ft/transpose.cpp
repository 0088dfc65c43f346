// SPDX-License-Identifier: Apache-2.0
#include "npb/ft/transpose.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include "npb/ft/pencils.hpp"

namespace tare::npb::ft {

namespace {

/// 1 MiB: large enough that its start costs nothing, small enough to be sent out of a cache.
constexpr std::ptrdiff_t message_doubles = std::ptrdiff_t{1} << 17U;

/// Where piece `number` of `total` is when the first parts of all things lie before the second ones.
std::size_t index_of(int number, int total, int parts) {
    const int index = number % parts * (total / parts) + number / parts;
    return static_cast<std::size_t>(index);
}

}  // namespace

int owner_of(int total, int parts, int thing) {
    return static_cast<int>((std::int64_t{parts} * (thing + 1) - 1) / total);
}

int largest_share(int total, int parts) { return (total + parts - 1) / parts; }

Cut cut_for(const Edges& edges, int ranks) {
    const int butterflies = edges.y / int{y_radix};
    const int most_outer = std::min(butterflies, edges.z);
    const int most_inner = std::min(butterflies, edges.x / int{block_points});
    for (int inner = 1; inner <= std::min(ranks, most_inner); ++inner) {
        if (ranks % inner == 0 && ranks / inner <= most_outer) {
            return {.inner = inner, .outer = ranks / inner, .sharing = inner};
        }
    }
    throw WrongUse("this box cannot be cut into " + std::to_string(ranks) +
                   " parts: the number of ranks is at most " + std::to_string(most_outer) +
                   ", or such a number times 2 to " + std::to_string(most_inner));
}

Cut reference_cut_for(const Edges& edges, int ranks) {
    const int butterflies = edges.y / int{y_radix};
    const int most = std::min(edges.z, butterflies * (edges.x / int{block_points}));
    if (ranks > most || !std::has_single_bit(static_cast<unsigned>(ranks))) {
        throw WrongUse("with the reference's messages the number of ranks is a power of two up to " +
                       std::to_string(most));
    }
    const int outer = std::min(ranks, butterflies);
    return {.inner = ranks / outer, .outer = outer, .sharing = 1};
}

Decomposition Decomposition::of(const Edges& edges, const World& world, Messages messages) {
    const bool is_own = messages == Messages::own;
    return {.edges = edges,
            .cut = is_own ? cut_for(edges, world.ranks) : reference_cut_for(edges, world.ranks),
            .rank = world.rank};
}

int Decomposition::all_blocks() const { return edges.x / int{block_points}; }

int Decomposition::all_butterflies() const { return edges.y / int{y_radix}; }

Transpose::Transpose(const World& world, const TransposeShape& shape, Messages messages)
    : world_{world},
      shape_{shape},
      is_at_once_{messages == Messages::reference && world.ranks > 1},
      parts_left_(static_cast<std::size_t>(items().count)) {
    if (is_at_once_) {
        for (int rank = 0; rank < world.ranks; ++rank) {
            peers_.push_back({.rank = rank});
        }
        return;
    }
    std::size_t most_requests = 0;
    for (int step = 1; step < world.ranks; ++step) {
        // Ranks begin with different peers, so that no rank is everyone's first.
        const int rank = (world.rank + step) % world.ranks;
        peers_.push_back({.rank = rank});
        most_requests +=
            static_cast<std::size_t>(items().count + share_of(shape.items, world.ranks, rank).count);
    }
    requests_.resize(most_requests, MPI_REQUEST_NULL);
}

std::ptrdiff_t Transpose::piece_doubles(int rank) const {
    return rows_of(rank).count * shape_.row_doubles + (is_at_once_ ? 0 : padding_doubles);
}

std::ptrdiff_t Transpose::outgoing_doubles() const {
    std::ptrdiff_t sum = 0;
    for (const Peer& peer : peers_) {
        sum += doubles_for(peer);
    }
    return sum;
}

void Transpose::use(double* outgoing, double* arriving) {
    arriving_ = arriving;
    for (Peer& peer : peers_) {
        peer.outgoing = outgoing;
        outgoing += doubles_for(peer);
    }
}

void Transpose::pack_into(int item, std::span<double*> rows) const {
    const auto fill = [&](int rank, double* piece) {
        const Share<int> share = rows_of(rank);
        for (int row = share.first; row < share.first + share.count; ++row) {
            rows[index_of(row, shape_.rows, shape_.parts_of_row)] = piece;
            piece += shape_.row_doubles;
        }
    };
    if (!is_at_once_) {
        fill(world_.rank, arriving_ + (items().first + item) * item_doubles());
    }
    for (const Peer& peer : peers_) {
        fill(peer.rank, peer.outgoing + item * piece_doubles(peer.rank));
    }
}

void Transpose::unpack_from(std::span<double*> items) const {
    double* place = arriving_;
    for (int item = 0; item < shape_.items; ++item) {
        items[index_of(item, shape_.items, shape_.parts_of_item)] = place;
        place += item_doubles();
    }
}

int Transpose::items_per_message(int receiver) const {
    return static_cast<int>(std::max<std::ptrdiff_t>(1, message_doubles / piece_doubles(receiver)));
}

MPI_Request& Transpose::request() { return requests_[requested_++]; }

void Transpose::receive_from(int sender) {
    const Share<int> share = share_of(shape_.items, world_.ranks, sender);
    const int together = items_per_message(world_.rank);
    for (int item = 0; item < share.count; item += together) {
        const int count = std::min(together, share.count - item);
        MPI_Irecv(arriving_ + (share.first + item) * item_doubles(), static_cast<int>(count * item_doubles()),
                  MPI_DOUBLE, sender, item, world_.communicator, &request());
    }
}

void Transpose::begin(int parts_of_item) {
    for (std::atomic<int>& left : parts_left_) {
        left.store(parts_of_item, std::memory_order_relaxed);
    }
    next_sent_ = 0;
    if (!is_at_once_) {
        for (const Peer& peer : peers_) {
            receive_from(peer.rank);
        }
    }
}

void Transpose::send_to(const Peer& peer, int item) {
    const int together = items_per_message(peer.rank);
    const int first = item - item % together;
    if (item + 1 == first + together || item + 1 == items().count) {
        const auto piece = piece_doubles(peer.rank);
        MPI_Isend(peer.outgoing + first * piece, static_cast<int>((item + 1 - first) * piece), MPI_DOUBLE,
                  peer.rank, first, world_.communicator, &request());
    }
}

void Transpose::finished(int item) {
    parts_left_[static_cast<std::size_t>(item)].fetch_sub(1, std::memory_order_release);
}

void Transpose::send(int item) {
    for (const Peer& peer : peers_) {
        send_to(peer, item);
    }
    if (!peers_.empty()) {
        // Most MPI libraries move data only while the program is inside of them.
        int done = 0;
        MPI_Testall(static_cast<int>(requested_), requests_.data(), &done, MPI_STATUSES_IGNORE);
    }
}

void Transpose::send_finished() {
    while (!is_at_once_ && next_sent_ < items().count &&
           parts_left_[static_cast<std::size_t>(next_sent_)].load(std::memory_order_acquire) == 0) {
        send(next_sent_++);
    }
}

void Transpose::complete_at_once() {
    const int piece = static_cast<int>(doubles_for(peers_.front()));
    MPI_Alltoall(peers_.front().outgoing, piece, MPI_DOUBLE, arriving_, piece, MPI_DOUBLE,
                 world_.communicator);
}

void Transpose::complete() {
    if (is_at_once_) {
        complete_at_once();
        return;
    }
    send_finished();
    MPI_Waitall(static_cast<int>(requested_), requests_.data(), MPI_STATUSES_IGNORE);
    requested_ = 0;
}

}  // namespace tare::npb::ft
