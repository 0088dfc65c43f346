// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tare::tests {

/// Arguments as main receives them.
class Arguments {
  public:
    Arguments(std::initializer_list<std::string> texts) : Arguments{std::vector<std::string>{texts}} {}
    explicit Arguments(std::vector<std::string> texts) : texts_{std::move(texts)} {
        for (std::string& text : texts_) {
            pointers_.push_back(text.data());
        }
    }
    Arguments(const Arguments&) = delete;
    Arguments& operator=(const Arguments&) = delete;
    Arguments(Arguments&&) = delete;
    Arguments& operator=(Arguments&&) = delete;
    ~Arguments() = default;

    [[nodiscard]] std::span<char* const> span() const { return pointers_; }

  private:
    std::vector<std::string> texts_;
    std::vector<char*> pointers_;
};

}  // namespace tare::tests
