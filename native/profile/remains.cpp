// SPDX-License-Identifier: Apache-2.0
#include "profile/remains.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>

#include "common/file_descriptor.hpp"
#include "common/system.hpp"
#include "profile/counting.hpp"

namespace tare::profile {

namespace {

constexpr std::chrono::milliseconds write_limit{60'000};

const RankRecord& record_of(const RankFile& file) { return *file.counters().record; }

/// Rank → its counters, of the run that started last.
std::map<int, RankCounters> newest_run(std::span<const RankFile> files) {
    const auto newest = std::max_element(files.begin(), files.end(), [](const auto& left, const auto& right) {
        return record_of(left).started_unix_ns < record_of(right).started_unix_ns;
    });
    std::map<int, RankCounters> ranks;
    for (const RankFile& file : files) {
        const RankRecord& record = record_of(file);
        if (record.run == record_of(*newest).run && record.ranks == record_of(*newest).ranks) {
            ranks.insert_or_assign(record.rank, file.counters());
        }
    }
    return ranks;
}

}  // namespace

std::vector<std::string> rank_files_beside(const std::string& profile) {
    namespace fs = std::filesystem;
    const fs::path path{profile};
    const std::string prefix = rank_path(path.filename().string(), 0);
    const auto length = prefix.size() - 1;
    std::vector<std::string> found;
    std::error_code error;
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path{"."};
    for (const auto& entry : fs::directory_iterator{folder, error}) {
        if (entry.path().filename().string().compare(0, length, prefix, 0, length) == 0) {
            found.push_back(entry.path().string());
        }
    }
    return found;
}

std::optional<Run> join_newest(std::span<const RankFile> files) {
    if (files.empty()) {
        return std::nullopt;
    }
    const auto ranks = newest_run(files);
    const RankRecord& first = *ranks.begin()->second.record;
    Run run{.program = text_of(first.program),
            .library = text_of(first.library),
            .ranks = first.ranks,
            .known = {},
            .missing = {},
            .partial = false};
    for (int rank = 0; rank < run.ranks; ++rank) {
        if (const auto found = ranks.find(rank); found == ranks.end()) {
            run.missing.push_back(rank);
        } else {
            count_rest(found->second);
            run.known.push_back(rank_text(found->second));
            run.partial |= found->second.record->stage != Stage::finalized;
        }
    }
    run.partial |= !run.missing.empty();
    return run;
}

void replace_file(const std::string& path, const std::string& text) {
    const std::string written = path + ".new";
    {
        const FileDescriptor file{
            ::open(written.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, everyone_reads)};
        if (!file || !write_all(file.number(), text, write_limit)) {
            throw_errno("cannot write " + written);
        }
    }
    if (std::rename(written.c_str(), path.c_str()) != 0) {
        throw_errno("cannot rename " + written + " to " + path);
    }
}

}  // namespace tare::profile
