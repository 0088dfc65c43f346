// SPDX-License-Identifier: Apache-2.0
#include "profile/functions.hpp"

#include <doctest/doctest.h>
#include <link.h>
#include <unistd.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace tare::profile;
namespace fs = std::filesystem;

namespace {

/// A function whose name is known.
[[gnu::noinline]] int searched_for(int value) {
    asm volatile("" : "+r"(value));
    return value;
}

/// In the addresses of this program's file.
std::uint64_t searched_address() {
    std::uint64_t shift = 0;
    ::dl_iterate_phdr(
        [](dl_phdr_info* loaded, std::size_t, void* data) {
            *static_cast<std::uint64_t*>(data) = loaded->dlpi_addr;
            return 1;
        },
        &shift);
    return std::bit_cast<std::uint64_t>(&searched_for) - shift;
}

}  // namespace

TEST_CASE("a function is known by any address in it, as its programmer called it") {
    CHECK(searched_for(1) == 1);
    const Functions functions{"/proc/self/exe"};
    const std::string name = functions.at(searched_address());
    CHECK(name.find("searched_for(int)") != std::string::npos);
    CHECK(functions.at(searched_address() + 1) == name);
    CHECK(functions.at(0).empty());
    CHECK(functions.at(UINT64_MAX).empty());
}

TEST_CASE("files that are missing, cut or no programs have no functions, and do no harm") {
    CHECK(Functions{"/proc/no/such/file"}.at(1).empty());
    CHECK(Functions{"/dev/zero"}.at(1).empty());
    const fs::path path = fs::temp_directory_path() / ("tare-functions-" + std::to_string(::getpid()));
    std::ifstream program{"/proc/self/exe", std::ios::binary};
    const std::string whole{std::istreambuf_iterator<char>{program}, {}};
    for (const std::size_t parts : {2, 3, 5, 100, 100'000}) {
        std::ofstream{path, std::ios::binary} << whole.substr(0, whole.size() - whole.size() / parts);
        CHECK(Functions{path.string()}.at(UINT64_MAX).empty());
    }
    fs::remove(path);
}
