// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <utility>

#include "common/file_descriptor.hpp"
#include "common/system.hpp"
#include "mpiio/file.hpp"

namespace tare::mpiio {

namespace {

constexpr mode_t mode_of_new = 0666;

FileDescriptor opened(const std::string& path, int flags) {
    FileDescriptor file{::open(path.c_str(), flags | O_CLOEXEC, mode_of_new)};
    if (!file) {
        throw_errno(path + " cannot be opened");
    }
    return file;
}

class PosixFile : public File {
  public:
    PosixFile(std::string path, FileDescriptor file) : path_{std::move(path)}, file_{std::move(file)} {}

    void write(std::span<const std::byte> record, std::uint64_t place) override {
        while (!record.empty()) {
            const std::size_t moved = done(" cannot be written", [&] {
                return ::pwrite(file_.number(), record.data(), record.size(), static_cast<off_t>(place));
            });
            record = record.subspan(moved);
            place += moved;
        }
    }

    void read(std::span<std::byte> record, std::uint64_t place) override {
        while (!record.empty()) {
            const std::size_t moved = done(" cannot be read", [&] {
                return ::pread(file_.number(), record.data(), record.size(), static_cast<off_t>(place));
            });
            if (moved == 0) {
                throw std::runtime_error(path_ + " ends " + std::to_string(record.size()) +
                                         " bytes too early");
            }
            record = record.subspan(moved);
            place += moved;
        }
    }

    void sync() override {
        done(" cannot be synchronized", [this] { return ssize_t{::fsync(file_.number())}; });
    }

    void close() override { file_ = FileDescriptor{}; }

  private:
    /// The result of a call that is made again when a signal interrupted it.
    template <typename Call>
    std::size_t done(const char* failure, const Call& call) const {
        while (true) {
            const ssize_t result = call();
            if (result >= 0) {
                return static_cast<std::size_t>(result);
            }
            if (errno != EINTR) {
                throw_errno(path_ + failure);
            }
        }
    }

    std::string path_;
    FileDescriptor file_;
};

/// Rank 0 makes the shared file before the others open it.
FileDescriptor opened_empty(const std::string& path, bool shared, int flags) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!shared || rank == 0) {
        FileDescriptor made = opened(path, flags | O_WRONLY | O_CREAT | O_TRUNC);
        if (shared) {
            MPI_Barrier(MPI_COMM_WORLD);
        }
        return made;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return opened(path, flags | O_WRONLY);
}

}  // namespace

std::unique_ptr<File> open_posix(const std::string& path, const Options& options, Operation operation) {
    const int flags = options.direct ? O_DIRECT : 0;
    FileDescriptor file = operation == Operation::write
                              ? opened_empty(path, is_shared(options.pattern), flags)
                              : opened(path, flags | O_RDONLY);
    return std::make_unique<PosixFile>(path, std::move(file));
}

}  // namespace tare::mpiio
