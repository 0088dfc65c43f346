// SPDX-License-Identifier: Apache-2.0
#include "profile/library/log_room.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <memory>

namespace tare::profile {

void populate(void* memory, std::size_t byte) {
    static const auto page_byte = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    if (std::align(page_byte, 1, memory, byte) != nullptr) {
        (void)::madvise(memory, byte, MADV_POPULATE_WRITE);
    }
}

}  // namespace tare::profile
