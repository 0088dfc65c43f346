// SPDX-License-Identifier: Apache-2.0
// profile-merge PROFILE [FILE...]: writes PROFILE from what the ranks of a broken run left beside it, or from
// the files named, brought together from several nodes.
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "common/system.hpp"
#include "profile/remains.hpp"

namespace {

constexpr std::string_view program = "profile-merge";
constexpr int exit_nothing = 1;
constexpr int exit_usage = 2;

int merge(const std::string& profile, const std::vector<std::string>& paths) {
    std::vector<tare::profile::RankFile> files;
    for (const std::string& path : paths) {
        if (auto file = tare::profile::RankFile::open(path)) {
            files.push_back(std::move(*file));
        } else {
            tare::complain(program, path + " is no whole file of a rank's; it is left out");
        }
    }
    const auto run = tare::profile::join_newest(files);
    if (!run) {
        tare::complain(program, "there is no file of any rank for " + profile +
                                    "; name them, or run the job with TARE_PROFILE=" + profile);
        return exit_nothing;
    }
    tare::profile::replace_file(profile, tare::profile::run_text(*run));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const auto words = std::span{argv, static_cast<std::size_t>(argc)};
    if (words.size() < 2) {
        tare::complain(program, "write: profile-merge PROFILE [FILE...]");
        return exit_usage;
    }
    try {
        const std::string profile = words[1];
        const std::vector<std::string> named(words.begin() + 2, words.end());
        return merge(profile, named.empty() ? tare::profile::rank_files_beside(profile) : named);
    } catch (const std::exception& error) {
        tare::complain(program, error.what());
        return exit_nothing;
    }
}
