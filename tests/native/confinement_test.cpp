// SPDX-License-Identifier: Apache-2.0
#include "stopwatch/confinement.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>

namespace {

using tare::stopwatch::transparent_huge_pages;

// Kernel 6.18, as recorded.
const std::string status = "Name:\tcat\nUmask:\t0022\nTHP_enabled:\t1\nuntag_mask:\t0xffffffffffffffff\n";
const std::string refused = "Name:\tcat\nUmask:\t0022\nTHP_enabled:\t0\nuntag_mask:\t0xffffffffffffffff\n";
const std::string setting = "always [madvise] never\n";

TEST_CASE("huge pages are given as the kernel's setting says") {
    CHECK(transparent_huge_pages(status, setting) == "madvise");
    CHECK(transparent_huge_pages(status, "[always] madvise never\n") == "always");
}

TEST_CASE("a process that is refused huge pages has none, whatever the setting") {
    CHECK(transparent_huge_pages(refused, setting) == "off");
    CHECK(transparent_huge_pages(refused, std::nullopt) == "off");
}

TEST_CASE("an older kernel does not say whether they are refused, and the setting counts") {
    CHECK(transparent_huge_pages("Name:\tcat\n", setting) == "madvise");
    CHECK(transparent_huge_pages("", setting) == "madvise");
}

TEST_CASE("without a setting that can be read nothing is said") {
    CHECK_FALSE(transparent_huge_pages(status, std::nullopt));
    CHECK_FALSE(transparent_huge_pages(status, ""));
    CHECK_FALSE(transparent_huge_pages(status, "always madvise never\n"));
    CHECK_FALSE(transparent_huge_pages(status, "]always["));
    CHECK_FALSE(transparent_huge_pages(status, "[]"));
}

}  // namespace
