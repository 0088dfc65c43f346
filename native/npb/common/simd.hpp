// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tare::npb {

/// The vector instructions that a kernel's hot functions were compiled for, narrowest first.
enum class Simd { plain, avx2, avx512 };

[[nodiscard]] std::string_view name_of(Simd simd);

/// Those that this program holds and this processor can run; `plain` always.
[[nodiscard]] std::vector<Simd> runnable();

/// Which instructions run, and why in words.
struct Choice {
    Simd simd = Simd::plain;
    std::string rule{};
};

/// The one asked for ("plain", "avx2", "avx512"), or the widest of `can` for "widest": in every kernel wider
/// code was measured to be as fast or faster (docs/npb.md). The rule knows the processor's features alone,
/// not its caches nor a time, which would differ from run to run or between environments. `can` is narrowest
/// first, and never empty. Throws `WrongUse` for another word and for one that is not in `can`.
[[nodiscard]] Choice chosen(std::string_view word, const std::vector<Simd>& can = runnable());

}  // namespace tare::npb

/// Declares `Functions functions()` in each variant's namespace, and `functions(Simd)` that chooses. The hot
/// source defines `TARE_NPB_SIMD::functions()`. Hot sources hold no standard containers and no shared inline
/// functions: the linker keeps one copy of such a function, which may be one that this processor cannot run.
// NOLINTBEGIN(cppcoreguidelines-macro-usage): no template can declare namespaces.
#ifdef TARE_NPB_X86
#define TARE_NPB_VARIANTS(Functions)                      \
    namespace plain {                                     \
    [[nodiscard]] Functions functions();                  \
    }                                                     \
    namespace avx2 {                                      \
    [[nodiscard]] Functions functions();                  \
    }                                                     \
    namespace avx512 {                                    \
    [[nodiscard]] Functions functions();                  \
    }                                                     \
    [[nodiscard]] inline Functions functions(Simd simd) { \
        return simd == Simd::avx512 ? avx512::functions() \
               : simd == Simd::avx2 ? avx2::functions()   \
                                    : plain::functions(); \
    }
#else
#define TARE_NPB_VARIANTS(Functions)     \
    namespace plain {                    \
    [[nodiscard]] Functions functions(); \
    }                                    \
    [[nodiscard]] inline Functions functions(Simd /*simd*/) { return plain::functions(); }
#endif
// NOLINTEND(cppcoreguidelines-macro-usage)
