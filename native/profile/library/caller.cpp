// SPDX-License-Identifier: Apache-2.0
// Fortran's interfaces are functions of a library that call C's, so that all calls of a kind come from one
// place there. How large the frame of such a function is at its call is always the same: it is found once by
// unwinding the stack, and from then on its caller is read from there.
#include "profile/library/caller.hpp"

#include <dlfcn.h>
#include <unwind.h>

#include <array>
#include <atomic>
#include <filesystem>

#include "profile/library/requests.hpp"

namespace tare::profile {

#ifdef __x86_64__

namespace {

struct FrameSearch {
    std::uint64_t site;
    std::uint64_t begin;
    std::uint64_t byte;
};

/// One frame after the other, for _Unwind_Backtrace.
_Unwind_Reason_Code measure_frame(_Unwind_Context* context, void* data) {
    auto& search = *static_cast<FrameSearch*>(data);
    const std::uint64_t stack = _Unwind_GetCFA(context);
    if (search.begin != 0) {
        search.byte = stack - search.begin;
        return _URC_END_OF_STACK;
    }
    search.begin = _Unwind_GetIP(context) == search.site ? stack : 0;
    return _URC_NO_REASON;
}

bool is_of_fortran(std::uint64_t site) {
    Dl_info place{};
    return ::dladdr(std::bit_cast<const void*>(site), &place) != 0 &&
           std::filesystem::path{place.dli_fname}.filename().string().starts_with("libmpi");
}

[[gnu::noinline, gnu::cold]] Frame learn(std::uint64_t site) {
    FrameSearch search{.site = site, .begin = 0, .byte = 0};
    if (is_of_fortran(site)) {
        _Unwind_Backtrace(measure_frame, &search);
    }
    return {site, search.byte <= Frame::most_byte ? search.byte : 0};
}

}  // namespace

Frame frame_of(std::uint64_t site) {
    constexpr unsigned place_bits = 10;
    constexpr std::size_t places = std::size_t{1} << place_bits;
    constexpr std::size_t most_tried = 8;
    static std::array<std::atomic<Frame>, places> known;
    std::size_t place = hashed(site, place_bits);
    for (std::size_t tried = 0; tried < most_tried; ++tried) {
        std::atomic<Frame>& frame = known.at(place);
        if (frame.load(std::memory_order_relaxed).is_of(site)) {
            return frame.load(std::memory_order_relaxed);
        }
        if (frame.load(std::memory_order_relaxed).is_free()) {
            frame.store(learn(site), std::memory_order_relaxed);
            return frame.load(std::memory_order_relaxed);
        }
        place = (place + 1) % places;
    }
    return learn(site);
}

std::uint64_t behind_fortran(std::uint64_t site, std::uint64_t stack) {
    constexpr int most_layers = 4;
    for (int layer = 0; layer < most_layers; ++layer) {
        const std::uint64_t byte = frame_of(site).byte();
        if (byte == 0) {
            break;
        }
        stack += byte;
        site = return_address(stack);
    }
    return site;
}

#else

Frame frame_of(std::uint64_t site) { return {site, 0}; }

std::uint64_t behind_fortran(std::uint64_t site, std::uint64_t /*stack*/) { return site; }

#endif

}  // namespace tare::profile
