// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "arguments.hpp"
#include "keeper/options.hpp"

namespace {

using namespace tare::keeper;
using tare::tests::Arguments;

TEST_CASE("a VMM is given with its descriptor and its pid file") {
    const Arguments arguments{"--socket", "s",  "--pid-file", "p",  "--descriptor",
                              "9",        "--", "qemu",       "--", "-x"};
    const auto options = parse_options(arguments.span());
    CHECK(options.socket == "s");
    CHECK(options.pid_file == "p");
    CHECK(options.descriptor == 9);
    REQUIRE(options.vmm.size() == 3);
    CHECK(std::string{options.vmm[0]} == "qemu");
    CHECK(std::string{options.vmm[1]} == "--");
    CHECK(options.ready_limit == std::chrono::seconds{60});
}

TEST_CASE("a guest elsewhere is given by its socket") {
    const Arguments arguments{"--socket", "s", "--connect", "c", "--ready-limit-s", "0.25"};
    const auto options = parse_options(arguments.span());
    CHECK(options.connect == "c");
    CHECK(options.vmm.empty());
    CHECK(options.ready_limit == std::chrono::milliseconds{250});
}

TEST_CASE("what makes no sense is refused") {
    const std::vector<std::vector<std::string>> wrong{
        {},
        {"--socket", "s"},
        {"--connect", "c"},
        {"--socket", "s", "--connect", "c", "--pid-file", "p"},
        {"--socket", "s", "--connect", "c", "--", "qemu"},
        {"--socket", "s", "--pid-file", "p", "--descriptor", "9"},
        {"--socket", "s", "--pid-file", "p", "--descriptor", "9", "--"},
        {"--socket", "s", "--pid-file", "p", "--", "qemu"},
        {"--socket", "s", "--descriptor", "9", "--", "qemu"},
        {"--socket", "s", "--pid-file", "p", "--descriptor", "2", "--", "qemu"},
        {"--socket", "s", "--pid-file", "p", "--descriptor", "9x", "--", "qemu"},
        {"--socket", "s", "--connect", "c", "--ready-limit-s", "0"},
        {"--socket", "s", "--connect", "c", "--ready-limit-s", "-1"},
        {"--socket", "s", "--connect", "c", "--ready-limit-s", "nan"},
        {"--socket", "s", "--connect", "c", "--ready-limit-s", "1e9"},
        {"--socket", "s", "--connect", "c", "--ready-limit-s"},
        {"--socket", "", "--connect", "c"},
        {"--sockets", "s"},
    };
    for (const auto& words : wrong) {
        CAPTURE(words.size());
        CHECK_THROWS_AS(parse_options(Arguments{words}.span()), WrongUse);
    }
}

}  // namespace
