// SPDX-License-Identifier: Apache-2.0
// What goes past the caches, seen in the engine itself, compiled for this test.
#define TARE_NPB_SIMD watched  // NOLINT(cppcoreguidelines-macro-usage): the name of a variant's namespace

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "npb/common/buffer.hpp"
#include "npb/ft/pencil_fft.hpp"

using namespace tare::npb;
using namespace tare::npb::ft;
using namespace tare::npb::ft::watched;

namespace {

constexpr Index lines = 3;
constexpr std::ptrdiff_t radix = 8;

Buffer<double> numbers() {
    Buffer<double> found(static_cast<std::size_t>(radix * work_element_doubles(lines)));
    for (std::size_t place = 0; place < found.size(); ++place) {
        found.data()[place] = static_cast<double>(place * place % 101);
    }
    return found;
}

/// Where each block was written, in order: whole ones, and parts of one.
struct Log {
    std::vector<std::pair<const double*, Index>> whole{};
    int parts = 0;
};

struct Logged : Streamed {
    Log* log = nullptr;

    void write(Address place, Spot spot, Complex value) const {
        ++log->parts;
        Streamed::write(place, spot, value);
    }
    void write_block(Address place, Index line, const double* block) const {
        log->whole.emplace_back(place, line);
        Streamed::write_block(place, line, block);
    }
};

}  // namespace

TEST_CASE("FT: what goes past the caches goes there block by block, each whole, with the same numbers") {
    const Buffer<double> source = numbers();
    Buffer<double> kept(source.size());
    Buffer<double> streamed(source.size());
    std::array<double*, radix> kept_places{};
    std::array<double*, radix> streamed_places{};
    for (std::size_t element = 0; element < radix; ++element) {
        kept_places.at(element) = kept.data() + element * lines * block_doubles;
        streamed_places.at(element) = streamed.data() + element * lines * block_doubles;
    }
    // The engine's type for memory that is read and written; here it is read alone.
    const Strided from{const_cast<double*>(source.data()),  // NOLINT(cppcoreguidelines-pro-type-const-cast)
                       work_element_doubles(lines)};
    for (const Direction direction : {Direction::forward, Direction::inverse}) {
        Log log;
        const Table table{kept_places.data(), 0, block_doubles, parts_for(direction)};
        Logged logged{{table}, &log};
        logged.element = streamed_places.data();
        Prefetch prefetch;
        combine<radix, false>(from, {0, 1}, table, {0, 1}, nullptr, lines, prefetch);
        combine<radix, false>(from, {0, 1}, logged, {0, 1}, nullptr, lines, prefetch);
        finish_streams();
        REQUIRE(Streamed::is_gathered == (has_streams && width < block_points));
        CHECK(log.parts == (Streamed::is_gathered ? 0 : radix * lines * block_vectors));
        if (Streamed::is_gathered) {
            REQUIRE(log.whole.size() == radix * lines);
            for (std::size_t number = 0; number < log.whole.size(); ++number) {
                CHECK(log.whole[number].first == streamed_places.at(number % radix));
                CHECK(log.whole[number].second == static_cast<Index>(number / radix));
            }
        }
        CHECK(std::equal(kept.span().begin(), kept.span().end(), streamed.span().begin()));
    }
}

TEST_CASE("FT: elements of a work memory that are a power of two apart lie in different sets of a cache") {
    constexpr std::ptrdiff_t line_doubles = 8;
    constexpr std::ptrdiff_t sets = 64;
    for (const std::ptrdiff_t blocks : {1, 2, 4}) {
        for (const std::ptrdiff_t apart : {1, 2, 4, 8}) {
            std::array<int, sets> taken{};
            for (std::ptrdiff_t element = 0; element < radix; ++element) {
                ++taken.at(static_cast<std::size_t>(element * apart * work_element_doubles(blocks) /
                                                    line_doubles % sets));
            }
            CHECK(*std::max_element(taken.begin(), taken.end()) == 1);
        }
    }
}
