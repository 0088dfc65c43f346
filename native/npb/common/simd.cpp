// SPDX-License-Identifier: Apache-2.0
#include "npb/common/simd.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "npb/common/arguments.hpp"

namespace tare::npb {

namespace {

constexpr std::array<std::pair<std::string_view, Simd>, 3> words{
    {{"plain", Simd::plain}, {"avx2", Simd::avx2}, {"avx512", Simd::avx512}}};

std::string names_of(const std::vector<Simd>& some) {
    std::string names;
    for (const Simd simd : some) {
        names += (names.empty() ? "" : ", ") + std::string{name_of(simd)};
    }
    return names;
}

}  // namespace

std::string_view name_of(Simd simd) { return words.at(static_cast<std::size_t>(simd)).first; }

std::vector<Simd> runnable() {
    std::vector<Simd> found{Simd::plain};
#if defined(TARE_NPB_X86) && !defined(__clang__)  // which cannot ask for a level
    if (__builtin_cpu_supports("x86-64-v3") != 0) {
        found.push_back(Simd::avx2);
    }
    if (__builtin_cpu_supports("x86-64-v4") != 0) {
        found.push_back(Simd::avx512);
    }
#endif
    return found;
}

Choice chosen(std::string_view word, const std::vector<Simd>& can) {
    if (word == "widest") {
        return {can.back(), "the widest of " + names_of(can) + " here"};
    }
    const auto* const known =
        std::find_if(words.begin(), words.end(), [word](const auto& pair) { return pair.first == word; });
    if (known == words.end()) {
        throw WrongUse("'" + std::string{word} + "' is none of plain, avx2, avx512, widest");
    }
    if (std::find(can.begin(), can.end(), known->second) == can.end()) {
        throw WrongUse("this processor cannot run " + std::string{word} + "; the widest that it can is " +
                       std::string{name_of(can.back())});
    }
    return {known->second, "asked for, of " + names_of(can) + " here"};
}

}  // namespace tare::npb
