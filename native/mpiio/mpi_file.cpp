// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>

#include <array>
#include <stdexcept>

#include "mpiio/file.hpp"

namespace tare::mpiio {

namespace {

/// Throws `std::runtime_error` with MPI's own words for anything but success.
void require(int code, const std::string& what) {
    if (code == MPI_SUCCESS) {
        return;
    }
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    throw std::runtime_error(what + ": " + std::string{text.data(), static_cast<std::size_t>(length)});
}

/// What ROMIO would choose by what it sees; Open MPI's own parts are chosen by its parameters.
class Hints {
  public:
    explicit Hints(bool collective) {
        MPI_Info_create(&info_);
        for (const char* const name : {"romio_cb_write", "romio_cb_read"}) {
            MPI_Info_set(info_, name, collective ? "enable" : "disable");
        }
        for (const char* const name : {"romio_ds_write", "romio_ds_read"}) {
            MPI_Info_set(info_, name, "disable");
        }
    }
    Hints(const Hints&) = delete;
    Hints& operator=(const Hints&) = delete;
    Hints(Hints&&) = delete;
    Hints& operator=(Hints&&) = delete;
    ~Hints() { MPI_Info_free(&info_); }

    [[nodiscard]] MPI_Info get() const { return info_; }

  private:
    MPI_Info info_ = MPI_INFO_NULL;
};

class MpiFile : public File {
  public:
    MpiFile(const std::string& path, const Options& options, Operation operation)
        : path_{path}, collective_{options.collective} {
        const Hints hints{collective_};
        const bool writes = operation == Operation::write;
        const int mode = writes ? MPI_MODE_CREATE | MPI_MODE_WRONLY : MPI_MODE_RDONLY;
        require(MPI_File_open(is_shared(options.pattern) ? MPI_COMM_WORLD : MPI_COMM_SELF, path.c_str(), mode,
                              hints.get(), &file_),
                path + " cannot be opened");
        if (writes) {
            require(MPI_File_set_size(file_, 0), path + " cannot be emptied");
        }
    }
    MpiFile(const MpiFile&) = delete;
    MpiFile& operator=(const MpiFile&) = delete;
    MpiFile(MpiFile&&) = delete;
    MpiFile& operator=(MpiFile&&) = delete;
    /// A file that is left open ends with the program: closing it would wait for all ranks.
    ~MpiFile() override = default;

    void write(std::span<const std::byte> record, std::uint64_t place) override {
        MPI_Status status;
        const auto call = collective_ ? MPI_File_write_at_all : MPI_File_write_at;
        require(call(file_, static_cast<MPI_Offset>(place), record.data(), static_cast<int>(record.size()),
                     MPI_BYTE, &status),
                path_ + " cannot be written");
        require_whole(status, record.size(), "written");
    }

    void read(std::span<std::byte> record, std::uint64_t place) override {
        MPI_Status status;
        const auto call = collective_ ? MPI_File_read_at_all : MPI_File_read_at;
        require(call(file_, static_cast<MPI_Offset>(place), record.data(), static_cast<int>(record.size()),
                     MPI_BYTE, &status),
                path_ + " cannot be read");
        require_whole(status, record.size(), "read");
    }

    void sync() override { require(MPI_File_sync(file_), path_ + " cannot be synchronized"); }

    void close() override { require(MPI_File_close(&file_), path_ + " cannot be closed"); }

  private:
    void require_whole(const MPI_Status& status, std::size_t wanted_byte, const char* done) const {
        int moved_byte = 0;
        MPI_Get_count(&status, MPI_BYTE, &moved_byte);
        if (moved_byte < 0 || static_cast<std::size_t>(moved_byte) != wanted_byte) {
            throw std::runtime_error(path_ + ": only " + std::to_string(moved_byte) + " of " +
                                     std::to_string(wanted_byte) + " bytes were " + done);
        }
    }

    std::string path_;
    bool collective_;
    MPI_File file_ = MPI_FILE_NULL;
};

}  // namespace

std::unique_ptr<File> open_mpi(const std::string& path, const Options& options, Operation operation) {
    return std::make_unique<MpiFile>(path, options, operation);
}

}  // namespace tare::mpiio
