// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "slices/memory/pieces.hpp"

namespace tare::slices {

Makers memory_makers(Memory& memory, std::size_t array_mib) {
    constexpr std::size_t arrays = 3;
    constexpr unsigned mebibyte_bits = 20;
    Makers makers{
        {"bandwidth",
         [&memory, array_mib] {
             return make_stream("triad", arrays * (array_mib << mebibyte_bits), memory);
         }},
        {"random", [&memory] { return make_random(usual_table_byte, memory); }},
        {"updates", {1, [&memory](const Parameters& given) { return make_random(given[0], memory); }}},
        {"chase",
         {2, [&memory](const Parameters& given) { return make_chase(given[0], given[1], memory); }}}};
    for (const char* const operation : {"copy", "scale", "add", "triad"}) {
        makers.emplace(operation, Maker{1, [&memory, operation](const Parameters& given) {
                                            return make_stream(operation, given[0], memory);
                                        }});
    }
    return makers;
}

}  // namespace tare::slices
