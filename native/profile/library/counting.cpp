// SPDX-License-Identifier: Apache-2.0
#include "profile/library/counting.hpp"

namespace tare::profile {

namespace {

bool is_in_world(Profile& profile, int world_rank) { return world_rank < profile.record().ranks; }

}  // namespace

std::uint64_t data_byte(const Profile& profile, int count, MPI_Datatype type) {
    for (const CommonType& common : profile.mpi().common_types) {
        if (common.handle == type) {
            return count > 0 ? static_cast<std::uint64_t>(count) * common.byte : 0;
        }
    }
    MPI_Count size = 0;
    profile.mpi().Type_size_x(type, &size);
    return count > 0 && size > 0 ? static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size) : 0;
}

std::uint64_t data_byte(const MPI_Status& status) { return status._ucount; }

void count_send(Profile& profile, const Send& send) {
    profile.row(send.call).sent.add(send.byte);
    PeerRecord& peer = profile.peer(send.to_world_rank);
    ++peer.sent;
    peer.sent_byte += send.byte;
    if (is_in_world(profile, send.to_world_rank)) {
        profile.log().sent(send.to_world_rank, send.stream, send.begin_ns);
    }
}

void count_receipt(Profile& profile, const Receipt& receipt) {
    const std::uint64_t byte = data_byte(*receipt.status);
    profile.row(receipt.call).received.add(byte);
    PeerRecord& peer = profile.peer(receipt.from_world_rank());
    ++peer.received;
    peer.received_byte += byte;
}

void log_receipt(Profile& profile, const Receipt& receipt, Slot slot, std::int64_t begin_ns,
                 std::int64_t end_ns) {
    const int from = receipt.from_world_rank();
    const Stream stream =
        is_in_world(profile, from) ? receipt.communicator->stream(receipt.status->MPI_TAG) : 0;
    profile.log().received(slot, from, stream, begin_ns, end_ns);
}

}  // namespace tare::profile
