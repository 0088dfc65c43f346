// SPDX-License-Identifier: Apache-2.0
#include "mpiio/cycle.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

#include "common/file_descriptor.hpp"
#include "common/system.hpp"
#include "mpiio/cache.hpp"
#include "mpiio/file.hpp"
#include "mpiio/pattern.hpp"

namespace tare::mpiio {

namespace {

constexpr std::align_val_t alignment{4096};  // what O_DIRECT wants of memory, at most

/// The part of the work that is one file: of all ranks together, or of this rank's own.
class Cycle {
  public:
    Cycle(const Options& options, const World& world, std::string path, const Share& written,
          std::uint64_t seed, Buffer& buffer)
        : options_{&options},
          world_{&world},
          path_{std::move(path)},
          written_{written},
          read_{written},
          seed_{seed},
          buffer_{&buffer} {
        read_.rank = read_from(written.pattern, written.rank, written.ranks);
    }

    [[nodiscard]] Point write() {
        for_each_record(written_, [this](std::span<std::byte> record, std::uint64_t place) {
            fill(record, {.seed = seed_, .rank = written_.rank}, place);
        });
        std::unique_ptr<File> file;
        timed("create", [&] { file = opened(Operation::write); });
        timed("write", [&] {
            for_each_record(written_, [&file](std::span<const std::byte> record, std::uint64_t place) {
                file->write(record, place);
            });
        });
        timed("sync", [&file] { file->sync(); });
        timed("close", [&file] { file->close(); });
        World::wait_for_all();  // until every rank has written
        if (options_->drop) {
            forget(path_);
        }
        if (!options_->keep) {
            buffer_->clear();
            file = opened(Operation::read);
            fetch(*file);
            file->close();
            verify();
        }
        return finished();
    }

    [[nodiscard]] Point read() {
        buffer_->clear();
        point_.cached_byte = World::largest(cached_byte(path_));
        std::unique_ptr<File> file;
        timed("open", [&] { file = opened(Operation::read); });
        timed("read", [&] { fetch(*file); });
        timed("close", [&file] { file->close(); });
        verify();
        return finished();
    }

    void remove() const {
        World::wait_for_all();  // until nobody reads it any more
        if (!is_shared(written_.pattern) || world_->is_first()) {
            ::unlink(path_.c_str());
        }
    }

  private:
    [[nodiscard]] std::unique_ptr<File> opened(Operation operation) const {
        return options_->interface == Interface::mpi ? open_mpi(path_, *options_, operation)
                                                     : open_posix(path_, *options_, operation);
    }

    /// All ranks start `work` together, and each keeps its own time for it.
    template <typename Work>
    void timed(std::string_view name, const Work& work) {
        World::wait_for_all();
        const double start_s = MPI_Wtime();
        work();
        own_.emplace_back(name, MPI_Wtime() - start_s);
    }

    /// Calls `each(record, place)` for the buffer's part of every record of the share and its place in the
    /// file.
    template <typename Each>
    void for_each_record(const Share& share, const Each& each) const {
        for (std::uint64_t number = 0; number < share.records; ++number) {
            each(buffer_->all().subspan(number * share.record_byte, share.record_byte),
                 place_of(share, number));
        }
    }

    void fetch(File& file) const {
        for_each_record(
            read_, [&file](std::span<std::byte> record, std::uint64_t place) { file.read(record, place); });
    }

    void verify() {
        std::uint64_t wrong = 0;
        for_each_record(read_, [&](std::span<const std::byte> record, std::uint64_t place) {
            wrong += count_wrong(record, {.seed = seed_, .rank = read_.rank}, place);
        });
        point_.wrong_byte = World::sum(wrong);
        point_.verified_byte = World::sum(read_.size_byte());
    }

    [[nodiscard]] Point finished() {
        point_.record_byte = written_.record_byte;
        for (const auto& [name, own_s] : own_) {
            point_.phases.push_back({.name = name, .rank_s = world_->gathered(own_s)});
        }
        return std::move(point_);
    }

    const Options* options_;
    const World* world_;
    std::string path_;
    Share written_;
    Share read_;
    std::uint64_t seed_;
    Buffer* buffer_;
    std::vector<std::pair<std::string_view, double>> own_;
    Point point_;
};

/// This rank's share of a file with records of this size.
Share share_of(const Options& options, const World& world, std::uint64_t record_byte) {
    return {.pattern = options.pattern,
            .rank = world.rank(),
            .ranks = world.ranks(),
            .record_byte = record_byte,
            .records = options.size_byte / record_byte};
}

std::string path_of(const Options& options, const std::string& name, const Share& share) {
    const std::string rank = is_shared(share.pattern) ? "" : '-' + std::to_string(share.rank);
    return options.directory + '/' + name + '-' + std::to_string(share.record_byte) + rank;
}

/// Writes a new file, or reads the one that is there; when nobody needs it any more it is removed.
Point moved(const Options& options, const World& world, const std::string& path, const Share& share,
            std::uint64_t repetition, Buffer& buffer) {
    const bool writes = options.operation == Operation::write;
    // Written anew, a file differs from the one before it; read again, it is the same one.
    const std::uint64_t seed = options.seed + (writes ? repetition : 0);
    Cycle cycle{options, world, path, share, seed, buffer};
    Point point = writes ? cycle.write() : cycle.read();
    const bool needed_again = !writes && repetition + 1 < options.repetitions;
    if (!options.keep && !needed_again) {
        cycle.remove();
    }
    return point;
}

/// Throws on a rank that does not see a file which the first one makes: opening theirs, Open MPI's MPI-IO
/// would wait for ever (seen with 4.1).
void require_shared(const World& world, const std::string& path) {
    const FileDescriptor made{world.is_first() ? ::open(path.c_str(), O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR)
                                               : -1};
    if (world.is_first() && !made) {
        throw_errno(path + " cannot be made");
    }
    World::wait_for_all();
    if (::access(path.c_str(), F_OK) != 0) {
        throw std::runtime_error("the first rank made " + path +
                                 ", which is not there: the nodes do not share this folder");
    }
    World::wait_for_all();
    if (world.is_first()) {
        ::unlink(path.c_str());
    }
}

}  // namespace

Buffer::Buffer(std::uint64_t size_byte)
    : all_{static_cast<std::byte*>(::operator new(size_byte, alignment)), size_byte} {
    clear();
}

Buffer::~Buffer() { ::operator delete(all_.data(), alignment); }

void Buffer::clear() { std::fill(all_.begin(), all_.end(), std::byte{0}); }

std::vector<Point> run(const Options& options, const World& world, const std::string& name) {
    if (is_shared(options.pattern) && world.ranks() > 1) {
        require_shared(world, options.directory + '/' + name + "-shared");
    }
    Buffer buffer{options.size_byte};
    std::vector<Point> points;
    for (const std::uint64_t record_byte : options.records) {
        const Share share = share_of(options, world, record_byte);
        const std::string path = path_of(options, name, share);
        for (std::uint64_t repetition = 0; repetition < options.repetitions; ++repetition) {
            points.push_back(moved(options, world, path, share, repetition, buffer));
        }
    }
    return points;
}

}  // namespace tare::mpiio
