// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <vector>

#include "common/file_descriptor.hpp"
#include "common/system.hpp"
#include "slices/os/operations.hpp"

namespace tare::slices {

namespace {

namespace fs = std::filesystem;

constexpr mode_t file_mode = 0600;

/// A new folder of the present one, and the names of the files that come and go in it.
class Folder {
  public:
    explicit Folder(std::size_t file_byte) : content_(file_byte, 'x') {
        std::array<char, sizeof "os-files-XXXXXX"> name{"os-files-XXXXXX"};
        if (::mkdtemp(name.data()) == nullptr) {
            throw_errno("cannot make a folder for files in the present one");
        }
        path_ = fs::absolute(name.data());
        folder_ = FileDescriptor{::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
        if (!folder_) {
            throw_errno("cannot open '" + path_.string() + "'");
        }
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    Folder(Folder&&) = delete;
    Folder& operator=(Folder&&) = delete;
    ~Folder() {
        std::error_code left;
        fs::remove_all(path_, left);
    }

    /// Composing a name is not what is timed.
    void name_files(std::uint64_t count) {
        for (std::uint64_t number = names_.size(); number < count; ++number) {
            names_.push_back(std::to_string(number));
        }
    }

    void create(std::uint64_t count) const {
        for (std::uint64_t number = 0; number < count; ++number) {
            const FileDescriptor file{::openat(folder_.number(), names_[number].c_str(),
                                               O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, file_mode)};
            const auto size_byte = static_cast<ssize_t>(content_.size());
            if (!file ||
                (size_byte != 0 && ::write(file.number(), content_.data(), content_.size()) != size_byte)) {
                throw_errno("cannot write a file");
            }
        }
    }

    void remove(std::uint64_t count) const {
        for (std::uint64_t number = 0; number < count; ++number) {
            if (::unlinkat(folder_.number(), names_[number].c_str(), 0) != 0) {
                throw_errno("cannot remove a file");
            }
        }
    }

    /// Throws `std::runtime_error` unless it holds so many files, each complete.
    void require(std::uint64_t count) const {
        std::uint64_t files = 0;
        for (const auto& entry : fs::directory_iterator{path_}) {
            files += entry.file_size() == content_.size() ? 1 : 0;
        }
        if (files != count) {
            throw std::runtime_error("there are " + std::to_string(files) + " whole files instead of " +
                                     std::to_string(count));
        }
    }

  private:
    std::string content_;
    fs::path path_;
    FileDescriptor folder_;
    std::vector<std::string> names_;
};

class FileCreate final : public Piece {
  public:
    explicit FileCreate(std::size_t file_byte) : folder_{file_byte} {}

    void prepare(std::uint64_t count) override { folder_.name_files(count); }

    void work(std::uint64_t count) override {
        folder_.create(count);
        created_ = count;
    }

    void finish() override {
        folder_.require(created_);
        folder_.remove(created_);
    }

    [[nodiscard]] std::uint64_t checksum() const override { return created_; }

  private:
    Folder folder_;
    std::uint64_t created_ = 0;
};

class FileDelete final : public Piece {
  public:
    explicit FileDelete(std::size_t file_byte) : folder_{file_byte} {}

    void prepare(std::uint64_t count) override {
        folder_.name_files(count);
        folder_.create(count);
    }

    void work(std::uint64_t count) override {
        folder_.remove(count);
        removed_ = count;
    }

    void finish() override { folder_.require(0); }

    [[nodiscard]] std::uint64_t checksum() const override { return removed_; }

  private:
    Folder folder_;
    std::uint64_t removed_ = 0;
};

std::size_t checked(std::uint64_t file_byte) {
    if (file_byte > most_file_byte) {
        throw std::invalid_argument("files have 0 to " + std::to_string(most_file_byte) + " byte");
    }
    return file_byte;
}

}  // namespace

std::unique_ptr<Piece> make_file_create(std::uint64_t file_byte) {
    return std::make_unique<FileCreate>(checked(file_byte));
}

std::unique_ptr<Piece> make_file_delete(std::uint64_t file_byte) {
    return std::make_unique<FileDelete>(checked(file_byte));
}

}  // namespace tare::slices
