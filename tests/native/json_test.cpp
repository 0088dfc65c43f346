// SPDX-License-Identifier: Apache-2.0
#include "common/json.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace {

using tare::json_number;
using tare::json_text;

TEST_CASE("quotes, backslashes and control characters are escaped") {
    CHECK(json_text("a\"b\\c") == R"("a\"b\\c")");
    CHECK(json_text("line\nnext\ttab") == R"("line\nnext\u0009tab")");
    CHECK(json_text(std::string_view{"\0\x1f", 2}) == R"("\u0000\u001f")");
}

TEST_CASE("well-formed UTF-8 of every length passes unchanged") {
    CHECK(json_text("a é € 𝄞") == "\"a é € 𝄞\"");
}

TEST_CASE("bytes that are not UTF-8 become replacement characters") {
    CHECK(json_text("\xff") == "\"\uFFFD\"");
    CHECK(json_text("a\xc3") == "\"a\uFFFD\"");                    // cut short
    CHECK(json_text("\xc0\xaf") == "\"\uFFFD\uFFFD\"");            // overlong
    CHECK(json_text("\xed\xa0\x80") == "\"\uFFFD\uFFFD\uFFFD\"");  // a surrogate
    CHECK(json_text("\xe2(\xa1") == "\"\uFFFD(\uFFFD\"");
}

TEST_CASE("numbers are the shortest that read back the same") {
    CHECK(json_number(0.1) == "0.1");
    CHECK(json_number(-3.0) == "-3");
    CHECK(json_number(1e300) == "1e+300");
}

TEST_CASE("a number that JSON cannot write is null") {
    CHECK(json_number(std::numeric_limits<double>::infinity()) == "null");
    CHECK(json_number(std::numeric_limits<double>::quiet_NaN()) == "null");
}

TEST_CASE("an object keeps the order of its keys and writes missing values as null") {
    const std::string text = tare::JsonObject{}
                                 .add("whole", 7)
                                 .add("real", 0.5)
                                 .add("truth", true)
                                 .add("text", "x")
                                 .add("missing", std::optional<int>{})
                                 .add("present", std::optional<std::string>{"y"})
                                 .add("list", std::vector<int>{0, 2})
                                 .add("names", std::vector<std::string>{"a", "\""})
                                 .add("none", std::vector<int>{})
                                 .text();
    CHECK(text == R"({"whole":7,"real":0.5,"truth":true,"text":"x","missing":null,"present":"y",)"
                  R"("list":[0,2],"names":["a","\""],"none":[]})");
    CHECK(tare::JsonObject{}.text() == "{}");
}

TEST_CASE("objects may stand in a list") {
    const std::vector<tare::JsonObject> objects{tare::JsonObject{}.add("a", 1), tare::JsonObject{}};
    CHECK(tare::JsonObject{}.add("objects", objects).text() == R"({"objects":[{"a":1},{}]})");
    CHECK(tare::JsonObject{}.add("objects", std::vector<tare::JsonObject>{}).text() == R"({"objects":[]})");
}

}  // namespace
