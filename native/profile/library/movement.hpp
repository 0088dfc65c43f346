// SPDX-License-Identifier: Apache-2.0
// How much the arguments of a collective or one-sided call describe. These names are the table's words: they
// are used while a call is counted, so that a profile is active.
#pragma once

#include <cstdint>

#include "profile/library/effects.hpp"

namespace tare::profile {

/// Bytes that a call moves in one direction; none is not the same as no bytes.
struct Amount {
    bool present;
    std::uint64_t byte;
};

inline constexpr Amount none{.present = false, .byte = 0};

[[nodiscard]] constexpr Amount operator*(int parts, Amount each) {
    return {.present = each.present, .byte = static_cast<std::uint64_t>(parts) * each.byte};
}

/// One process's own place in an argument that has one for each. The array is looked at only when its value
/// is asked for: at most processes of a gather it means nothing.
struct Own {
    const int* counts;
    MPI_Comm communicator;

    [[nodiscard]] int count() const;
};

struct Neighbours {
    int in;
    int out;
};

/// How many ranks can be sent to: the other side's, if the communicator has two.
[[nodiscard]] int ranks(MPI_Comm communicator);
/// How many there are on this process's side.
[[nodiscard]] int members(MPI_Comm communicator);
[[nodiscard]] bool is_first(MPI_Comm communicator);
[[nodiscard]] bool at_root(int root, MPI_Comm communicator);
/// Whether this process gives to a gather's root, or gets from a scatter's.
[[nodiscard]] bool at_leaf(int root, MPI_Comm communicator);
/// Whether it gets from a broadcast's.
[[nodiscard]] bool below_root(int root, MPI_Comm communicator);
[[nodiscard]] inline bool in_place(const void* buffer) { return buffer == MPI_IN_PLACE; }
[[nodiscard]] inline Own own(const int* counts, MPI_Comm communicator) { return {counts, communicator}; }
[[nodiscard]] Neighbours neighbours(MPI_Comm communicator);

/// Parts in a collective call: each waits for all; all but the root for the root; the root for all.
inline constexpr std::int32_t among_all = part_is_awaited | part_waits;
[[nodiscard]] std::int32_t from_root(int root, MPI_Comm communicator);
[[nodiscard]] std::int32_t to_root(int root, MPI_Comm communicator);

[[nodiscard]] Amount bytes(int count, MPI_Datatype type);
[[nodiscard]] Amount bytes(const Own& count, MPI_Datatype type);
[[nodiscard]] Amount bytes(const int* counts, MPI_Datatype type, int parts);
[[nodiscard]] Amount bytes(const int* counts, const MPI_Datatype* types, int parts);

/// `count` elements of `type` in `buffer` or, where the data are in place, what the other two say.
template <typename Count>
[[nodiscard]] Amount bytes(const void* buffer, int count, MPI_Datatype type, const Count& other_count,
                           MPI_Datatype other_type) {
    return in_place(buffer) ? bytes(other_count, other_type) : bytes(count, type);
}

void describe_move(Amount sent, Amount received, Entry& entry);
void describe_meeting(MPI_Comm communicator, std::int32_t part, Scope& scope);

/// Two functions that tell the amounts, called when the call has succeeded.
template <typename Sent, typename Received>
class Moves : public Nothing {
  public:
    Moves(Sent sent, Received received) : sent_{sent}, received_{received} {}

    void complete(Scope& scope) const {
        Trace* const trace = scope.profile().trace();
        if (trace != nullptr) [[unlikely]] {
            trace->parts().begin();
        }
        const Amount sent = sent_();
        if (trace != nullptr) [[unlikely]] {
            trace->parts().end_sent();
        }
        describe_move(sent, received_(), scope.entry());
    }

  private:
    Sent sent_;
    Received received_;
};

/// A call of all members of a communicator. `part` tells this one's part when the call has succeeded.
template <typename Part, typename Sent, typename Received>
class Meets : public Moves<Sent, Received> {
  public:
    Meets(MPI_Comm communicator, Part part, Sent sent, Received received)
        : Moves<Sent, Received>{sent, received}, communicator_{communicator}, part_{part} {}

    void complete(Scope& scope) const {
        Moves<Sent, Received>::complete(scope);
        describe_meeting(communicator_, part_(), scope);
    }

  private:
    MPI_Comm communicator_;
    Part part_;
};

}  // namespace tare::profile
