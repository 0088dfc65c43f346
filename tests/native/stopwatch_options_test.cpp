// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "arguments.hpp"
#include "stopwatch/options.hpp"

namespace {

using tare::stopwatch::Options;
using tare::stopwatch::parse_options;
using tare::stopwatch::WrongUse;
using tare::tests::Arguments;

TEST_CASE("a bare command gets no variables, no limits and no outputs") {
    const Options options = parse_options(Arguments{"--", "true"}.span());
    CHECK(options.command == std::vector<std::string>{"true"});
    CHECK(options.variables.empty());
    CHECK(options.directory.empty());
    CHECK(options.stdin_file == "/dev/null");
    CHECK(options.stdout_file == "/dev/null");
    CHECK(options.stderr_file == "/dev/null");
    CHECK_FALSE(options.limit.has_value());
    CHECK_FALSE(options.file_limit_byte.has_value());
    CHECK_FALSE(options.turns);
    CHECK(options.restrictions.empty());
    CHECK(options.grace.count() == 2.0);
}

TEST_CASE("every option of the stopwatch is read") {
    const Arguments arguments{"--directory", "/mnt",  "--stdout",          "o",      "--stderr",  "e",
                              "--env",       "A=1=2", "--processors",      "0-1",    "--limit-s", "1.5",
                              "--grace-s",   "0.5",   "--file-limit-byte", "4096",   "--turns",   "yes",
                              "--user",      "7:8",   "--limit",           "core=0", "--",        "sh",
                              "--",          "-c"};
    const Options options = parse_options(arguments.span());
    CHECK(options.directory == "/mnt");
    CHECK(options.stdout_file == "o");
    CHECK(options.stderr_file == "e");
    CHECK(options.variables == std::vector<std::string>{"A=1=2"});
    CHECK(options.processors == std::vector{0, 1});
    CHECK(options.limit->count() == 1.5);
    CHECK(options.grace.count() == 0.5);
    CHECK(options.file_limit_byte == 4096U);
    CHECK(options.turns);
    CHECK_FALSE(options.restrictions.empty());
    CHECK(options.command == std::vector<std::string>{"sh", "--", "-c"});
}

TEST_CASE("the last value of a variable counts") {
    const Arguments arguments{"--env", "A=1", "--env", "AB=2", "--env", "A=3", "--", "true"};
    CHECK(parse_options(arguments.span()).variables == std::vector<std::string>{"AB=2", "A=3"});
}

TEST_CASE("a wrong command line is refused with the option's name") {
    struct Wrong {
        std::vector<std::string> arguments;
        std::string message;
    };
    const std::vector<Wrong> all{
        {{"--colour", "red", "--", "true"}, "unknown option '--colour'"},
        {{"--env", "=1", "--", "true"}, "--env: '=1' is not NAME=VALUE"},
        {{"--env", "A", "--", "true"}, "--env: 'A' is not NAME=VALUE"},
        {{"--env", "--", "true"}, "--env: '' is not NAME=VALUE"},
        {{"--limit-s", "-1", "--", "true"}, "--limit-s: '-1'"},
        {{"--limit-s", "nan", "--", "true"}, "--limit-s: 'nan'"},
        {{"--grace-s", "1h", "--", "true"}, "--grace-s: '1h'"},
        {{"--processors", "x", "--", "true"}, "--processors: 'x'"},
        {{"--file-limit-byte", "1.5", "--", "true"}, "--file-limit-byte: '1.5'"},
        {{"--user", "root", "--", "true"}, "--user: 'root' is not UID:GID"},
        {{"--limit", "rss=1", "--", "true"}, "--limit: 'rss' is not one of"},
        {{"--turns", "1", "--", "true"}, "--turns: '1' is neither yes nor no"},
        {{"--"}, "no command"},
        {{}, "no command"},
    };
    for (const Wrong& wrong : all) {
        CAPTURE(wrong.message);
        try {
            static_cast<void>(parse_options(Arguments(wrong.arguments).span()));
            FAIL("accepted");
        } catch (const WrongUse& error) {
            CHECK(std::string{error.what()}.substr(0, wrong.message.size()) == wrong.message);
        }
    }
}

}  // namespace
