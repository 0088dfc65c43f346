// SPDX-License-Identifier: Apache-2.0
#include "profile/rank_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <new>
#include <utility>

#include "common/file_descriptor.hpp"

namespace tare::profile {

namespace {

void* map(std::size_t byte, int protection, int flags, int descriptor) {
    void* const memory = ::mmap(nullptr, byte, protection, flags, descriptor, 0);
    return memory == MAP_FAILED ? nullptr
                                : memory;  // NOLINT(performance-no-int-to-ptr): the system's own macro
}

/// Nothing where files cannot be made, reserved or shared, as in a read-only folder.
void* map_new_file(const std::string& path, std::size_t byte) {
    ::unlink(path.c_str());
    const FileDescriptor file{::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, everyone_reads)};
    if (!file) {
        return nullptr;
    }
    void* memory = nullptr;
    if (::posix_fallocate(file.number(), 0, static_cast<off_t>(byte)) == 0) {
        memory = map(byte, PROT_READ | PROT_WRITE, MAP_SHARED, file.number());
    }
    if (memory == nullptr) {
        ::unlink(path.c_str());
    }
    return memory;
}

bool is_whole(const RankRecord& record, std::size_t byte) {
    return record.mark == RankRecord::mark_of_layout && record.ranks > 0 && record.rank >= 0 &&
           record.rank < record.ranks && byte == counters_byte(record.ranks);
}

}  // namespace

RankFile::RankFile(void* memory, std::size_t byte, std::string path)
    : memory_{memory}, byte_{byte}, path_{std::move(path)} {}

RankFile::RankFile(RankFile&& other) noexcept
    : memory_{std::exchange(other.memory_, nullptr)},
      byte_{other.byte_},
      path_{std::exchange(other.path_, {})} {}

RankFile::~RankFile() {
    if (memory_ != nullptr) {
        ::munmap(memory_, byte_);
    }
}

RankFile RankFile::create(const std::string& path, int ranks) {
    const std::size_t byte = counters_byte(ranks);
    if (void* const shared = map_new_file(path, byte)) {
        return {shared, byte, path};
    }
    void* const own = map(byte, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    if (own == nullptr) {
        throw std::bad_alloc{};
    }
    return {own, byte, {}};
}

std::optional<RankFile> RankFile::open(const std::string& path) {
    const FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    struct stat status {};
    if (!file || ::fstat(file.number(), &status) != 0 ||
        static_cast<std::size_t>(status.st_size) < counters_byte(1)) {
        return std::nullopt;
    }
    const auto byte = static_cast<std::size_t>(status.st_size);
    // What is counted of another's journal stays here: the file is its own.
    void* const memory = map(byte, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.number());
    if (memory == nullptr) {
        return std::nullopt;
    }
    RankFile found{memory, byte, path};
    if (!is_whole(*static_cast<const RankRecord*>(memory), byte)) {
        return std::nullopt;
    }
    return found;
}

RankCounters RankFile::counters() const {
    auto* const record = static_cast<RankRecord*>(memory_);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-bounds-pointer-arithmetic): the peers lie behind the record
    auto* const peers = static_cast<PeerRecord*>(static_cast<void*>(record + 1));
    return {record, {peers, (byte_ - sizeof(RankRecord)) / sizeof(PeerRecord)}};
}

void RankFile::remove() {
    if (!path_.empty()) {
        ::unlink(path_.c_str());
        path_.clear();
    }
}

std::string rank_path(const std::string& profile, int rank) {
    return profile + ".rank-" + std::to_string(rank);
}

}  // namespace tare::profile
