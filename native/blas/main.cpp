// SPDX-License-Identifier: Apache-2.0
// Says which BLAS a program gets here, and which of its kernels: "OpenBLAS 0.3.21 SkylakeX".
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/system.hpp"

namespace {

constexpr std::chrono::seconds print_limit{10};

using TextFunction = char* (*)();

TextFunction find_function(void* library, const char* name) {
    // POSIX promises that dlsym(3) can give a function this way, and there is no other.
    return reinterpret_cast<TextFunction>(::dlsym(library, name));  // NOLINT(*-reinterpret-cast)
}

/// The first two words of "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...".
std::string name_and_version(const std::string& configuration) {
    return configuration.substr(0, configuration.find(' ', configuration.find(' ') + 1));
}

std::string describe(void* library, std::string_view name) {
    const auto configuration = find_function(library, "openblas_get_config");
    const auto kernel = find_function(library, "openblas_get_corename");
    if (configuration == nullptr || kernel == nullptr) {
        return std::string{name} + " (not OpenBLAS)";
    }
    return name_and_version(configuration()) + ' ' + kernel();
}

std::string found_blas() {
    constexpr std::array names{"libblas.so.3", "libopenblas.so.0"};
    std::string reasons;
    for (const char* const name : names) {
        if (void* const library = ::dlopen(name, RTLD_NOW)) {
            return describe(library, name);
        }
        reasons += reasons.empty() ? "" : "; ";
        reasons += ::dlerror();
    }
    throw std::runtime_error("no BLAS library: " + reasons);
}

}  // namespace

int main() {
    try {
        return tare::write_all(STDOUT_FILENO, found_blas() + '\n', print_limit) ? 0 : 1;
    } catch (const std::exception& error) {
        tare::complain("blas", error.what());
        return 1;
    }
}
