// SPDX-License-Identifier: Apache-2.0
#include "mpiio/places.hpp"

namespace tare::mpiio {

std::uint64_t place_of(const Share& share, std::uint64_t record) {
    const auto rank = static_cast<std::uint64_t>(share.rank);
    switch (share.pattern) {
        case Pattern::strided:
            return (record * static_cast<std::uint64_t>(share.ranks) + rank) * share.record_byte;
        case Pattern::segmented:
            return rank * share.size_byte() + record * share.record_byte;
        case Pattern::own:
            break;
    }
    return record * share.record_byte;
}

std::uint64_t file_byte(const Share& share) {
    return is_shared(share.pattern) ? share.size_byte() * static_cast<std::uint64_t>(share.ranks)
                                    : share.size_byte();
}

}  // namespace tare::mpiio
