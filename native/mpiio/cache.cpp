// SPDX-License-Identifier: Apache-2.0
#include "mpiio/cache.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "common/file_descriptor.hpp"

namespace tare::mpiio {

namespace {

/// A file in this process's address space, none of whose pages are touched.
class Mapping {
  public:
    Mapping(int file, std::size_t size_byte)
        : size_byte_{size_byte}, start_{::mmap(nullptr, size_byte, PROT_READ, MAP_PRIVATE, file, 0)} {}
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    Mapping(Mapping&&) = delete;
    Mapping& operator=(Mapping&&) = delete;
    ~Mapping() {
        if (start_ != MAP_FAILED) {
            ::munmap(start_, size_byte_);
        }
    }

    [[nodiscard]] std::optional<std::uint64_t> resident_byte() const {
        const auto page_byte = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
        std::vector<unsigned char> pages((size_byte_ + page_byte - 1) / page_byte);
        if (start_ == MAP_FAILED || ::mincore(start_, size_byte_, pages.data()) != 0) {
            return std::nullopt;
        }
        const auto count =
            std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return (page & 1U) != 0; });
        return std::min<std::uint64_t>(static_cast<std::uint64_t>(count) * page_byte, size_byte_);
    }

  private:
    std::size_t size_byte_;
    void* start_;
};

}  // namespace

std::optional<std::uint64_t> cached_byte(const std::string& path) {
    const FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    struct stat status {};
    if (!file || ::fstat(file.number(), &status) != 0 || status.st_size == 0) {
        return std::nullopt;
    }
    return Mapping{file.number(), static_cast<std::size_t>(status.st_size)}.resident_byte();
}

void forget(const std::string& path) {
    const FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (file) {
        ::posix_fadvise(file.number(), 0, 0, POSIX_FADV_DONTNEED);
    }
}

std::optional<std::uint64_t> file_system(const std::string& directory) {
    struct statfs status {};
    if (::statfs(directory.c_str(), &status) != 0) {
        return std::nullopt;
    }
    return static_cast<std::uint64_t>(status.f_type);
}

}  // namespace tare::mpiio
