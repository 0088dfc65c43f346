// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tare {

/// A JSON string (RFC 8259) with its quotes; bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string json_text(std::string_view text);

/// The shortest JSON number that reads back the same; null when not finite.
[[nodiscard]] std::string json_number(double value);

/// One JSON object on one line, built key by key.
class JsonObject {
  public:
    JsonObject& add(std::string_view key, std::string_view value);
    JsonObject& add(std::string_view key, const char* value) { return add(key, std::string_view{value}); }
    JsonObject& add(std::string_view key, const std::string& value) {
        return add(key, std::string_view{value});
    }
    JsonObject& add(std::string_view key, double value);
    JsonObject& add(std::string_view key, bool value);
    JsonObject& add(std::string_view key, const std::vector<int>& values);
    JsonObject& add(std::string_view key, const std::vector<std::string>& values);
    JsonObject& add(std::string_view key, const std::vector<JsonObject>& values);
    JsonObject& add(std::string_view key, const JsonObject& value) { return add_raw(key, value.text()); }

    template <std::integral Integer>
    JsonObject& add(std::string_view key, Integer value) {
        return add_raw(key, std::to_string(value));
    }

    /// A missing value is null, never 0 and never left out.
    template <typename Value>
    JsonObject& add(std::string_view key, const std::optional<Value>& value) {
        return value ? add(key, *value) : add_raw(key, "null");
    }

    [[nodiscard]] std::string text() const { return '{' + members_ + '}'; }

  private:
    JsonObject& add_raw(std::string_view key, std::string_view json);

    std::string members_;
};

}  // namespace tare
