// SPDX-License-Identifier: Apache-2.0
#include "hpl/blas.hpp"

#include <dlfcn.h>

#include <array>
#include <stdexcept>
#include <string>

namespace tare::hpl {

namespace {

/// Stays open for as long as the program runs.
void* open_library() {
    constexpr std::array names{"libblas.so.3", "libopenblas.so.0"};
    std::string reasons;
    for (const char* const name : names) {
        if (void* const library = ::dlopen(name, RTLD_NOW)) {
            return library;
        }
        reasons += reasons.empty() ? "" : "; ";
        reasons += ::dlerror();
    }
    throw std::runtime_error("no BLAS library: " + reasons);
}

template <typename Function>
void find(void* library, const char* name, Function& function) {
    // POSIX promises that dlsym(3) can give a function this way, and there is no other.
    function = reinterpret_cast<Function>(::dlsym(library, name));  // NOLINT(*-reinterpret-cast)
    if (function == nullptr) {
        throw std::runtime_error("the BLAS library has no " + std::string{name});
    }
}

}  // namespace

Blas load_blas() {
    void* const library = open_library();
    Blas blas;
    find(library, "dgemm_", blas.gemm);
    find(library, "dtrsm_", blas.trsm);
    find(library, "dgemv_", blas.gemv);
    return blas;
}

}  // namespace tare::hpl
