// SPDX-License-Identifier: Apache-2.0
#include "profile/library/next.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "common/system.hpp"

namespace tare::profile {

namespace {

/// This library's, or its twin's for the other family of MPI: either would pass the call on to the other.
bool is_profilers(void* address) {
    Dl_info found{};
    Dl_info own{};
    return ::dladdr(address, &found) != 0 &&
           // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): any address of this library will do
           ::dladdr(reinterpret_cast<const void*>(&look_up_next), &own) != 0 &&
           (found.dli_fbase == own.dli_fbase ||
            std::filesystem::path{found.dli_fname}.filename().string().starts_with("libtareprof"));
}

struct Search {
    const char* name;
    void* found;
};

/// One loaded library after the other, for dl_iterate_phdr(3).
int look_into(dl_phdr_info* library, std::size_t /*size*/, void* data) {
    auto& search = *static_cast<Search*>(data);
    void* const handle = ::dlopen(library->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) {
        return 0;
    }
    void* const address = ::dlsym(handle, search.name);
    ::dlclose(handle);
    if (address == nullptr || is_profilers(address)) {
        return 0;
    }
    search.found = address;
    return 1;
}

/// An interpreter that loads MPI privately, as Python does, hides it from the global search.
void* search_all(const char* name) {
    Search search{.name = name, .found = nullptr};
    ::dl_iterate_phdr(look_into, &search);
    return search.found;
}

void* look_up(Call call, Layer layer) {
    const std::string name =
        (layer == Layer::pmpi ? "P" : "") + std::string{call_table.at(index_of(call)).name};
    void* const found = find_next(name.c_str());
    if (found == nullptr) {
        complain("tareprof", "this MPI has no " + name);
        std::abort();
    }
    return found;
}

}  // namespace

void* find_next(const char* name) {
    void* const next = ::dlsym(RTLD_NEXT, name);
    return next != nullptr ? next : search_all(name);
}

void* find_variable(const char* name) {
    void* const found = ::dlsym(RTLD_DEFAULT, name);
    return found != nullptr ? found : search_all(name);
}

void* look_up_next(Call call, Layer layer) {
    void* const next = look_up(call, layer);
    way_of(call, layer).next.store(next, std::memory_order_relaxed);
    return next;
}

}  // namespace tare::profile
