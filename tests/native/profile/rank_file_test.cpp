// SPDX-License-Identifier: Apache-2.0
#include "profile/rank_file.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "profile/remains.hpp"

using namespace tare::profile;
namespace fs = std::filesystem;

namespace {

/// A folder that is gone with the test.
class Folder {
  public:
    Folder() : path_{fs::temp_directory_path() / ("tare-profile-" + std::to_string(::getpid()))} {
        fs::create_directories(path_);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    Folder(Folder&&) = delete;
    Folder& operator=(Folder&&) = delete;
    ~Folder() { fs::remove_all(path_); }

    [[nodiscard]] std::string profile() const { return (path_ / "profile.json").string(); }

  private:
    fs::path path_;
};

/// As a rank of `ranks` leaves it, in the run that started at `started`.
RankFile leave(const Folder& folder, int rank, int ranks, std::int64_t started = 1) {
    RankFile file = RankFile::create(rank_path(folder.profile(), rank), ranks);
    RankRecord& record = *file.counters().record;
    record.mark = RankRecord::mark_of_layout;
    record.run.at(0) = static_cast<char>('a' + started);
    record.rank = rank;
    record.ranks = ranks;
    record.started_unix_ns = started;
    record.stage = Stage::finalized;
    return file;
}

std::vector<RankFile> all_files(const Folder& folder) {
    std::vector<RankFile> files;
    for (const std::string& path : rank_files_beside(folder.profile())) {
        if (auto file = RankFile::open(path)) {
            files.push_back(std::move(*file));
        }
    }
    return files;
}

}  // namespace

TEST_CASE("what a process counted is there for others while it runs") {
    const Folder folder;
    const RankFile written = leave(folder, 1, 3);
    written.counters().record->calls.at(5).count = 17;
    written.counters().peers[3].sent_byte = 23;
    const auto read = RankFile::open(rank_path(folder.profile(), 1));
    REQUIRE(read);
    CHECK(read->counters().record->calls.at(5).count == 17);
    CHECK(read->counters().peers.size() == 4);
    CHECK(read->counters().peers[3].sent_byte == 23);
}

TEST_CASE("where no file can be made, counting works all the same") {
    RankFile file = RankFile::create("/proc/no/such/folder/profile.json.rank-0", 2);
    file.counters().record->rank = 1;
    CHECK(file.counters().peers.size() == 3);
    file.remove();
}

TEST_CASE("a file that is cut, foreign or unfinished is none") {
    const Folder folder;
    const std::string path = rank_path(folder.profile(), 0);
    CHECK_FALSE(RankFile::open(path));
    std::ofstream{path} << "short";
    CHECK_FALSE(RankFile::open(path));
    {
        const RankFile file = leave(folder, 0, 2);
        fs::resize_file(path, fs::file_size(path) - 1);
    }
    CHECK_FALSE(RankFile::open(path));
    const RankFile file = leave(folder, 0, 2);
    file.counters().record->mark = 0;
    CHECK_FALSE(RankFile::open(path));
}

TEST_CASE("a removed file is gone from the folder") {
    const Folder folder;
    RankFile file = leave(folder, 0, 1);
    file.remove();
    CHECK(rank_files_beside(folder.profile()).empty());
}

TEST_CASE("a run whose ranks all came to their end is whole") {
    const Folder folder;
    const auto first = leave(folder, 0, 2);
    const auto second = leave(folder, 1, 2);
    const auto run = join_newest(all_files(folder));
    REQUIRE(run);
    CHECK_FALSE(run->partial);
    CHECK(run->known.size() == 2);
    CHECK(run->missing.empty());
}

TEST_CASE("ranks of an older run do not stand in for missing ones") {
    const Folder folder;
    const auto newer = leave(folder, 1, 3, 2);
    const auto older = leave(folder, 2, 3, 1);
    const auto run = join_newest(all_files(folder));
    REQUIRE(run);
    CHECK(run->partial);
    CHECK(run->missing == std::vector{0, 2});
}

TEST_CASE("a rank that did not come to its end makes the run partial") {
    const Folder folder;
    const auto file = leave(folder, 0, 1);
    file.counters().record->stage = Stage::running;
    const auto run = join_newest(all_files(folder));
    REQUIRE(run);
    CHECK(run->partial);
    CHECK(run->missing.empty());
}

TEST_CASE("without files there is no run") { CHECK_FALSE(join_newest({})); }

TEST_CASE("a file is replaced as a whole, or what stands there stays") {
    const Folder folder;
    replace_file(folder.profile(), "first");
    replace_file(folder.profile(), "second");
    std::string text;
    std::ifstream{folder.profile()} >> text;
    CHECK(text == "second");
    CHECK_THROWS_AS(replace_file("/proc/none/profile.json", "text"), std::system_error);
}
