// SPDX-License-Identifier: Apache-2.0
#include "profile/library/mpi.hpp"

#include <dlfcn.h>

#include <string_view>

#include "profile/library/next.hpp"

namespace tare::profile {

namespace {

/// Remembers whether anything was missing.
class LookUp {
  public:
    [[nodiscard]] void* function(const char* name) { return noted(find_next(name)); }
    [[nodiscard]] void* variable(const char* name) { return noted(find_variable(name)); }
    [[nodiscard]] bool is_whole() const { return whole_; }

  private:
    void* noted(void* address) {
        whole_ = whole_ && address != nullptr;
        return address;
    }

    bool whole_ = true;
};

#ifdef OPEN_MPI

/// mpi.h's handles are the addresses of the library's variables.
void take_handles(Mpi& mpi, LookUp& names) {
    mpi.world = static_cast<MPI_Comm>(names.variable("ompi_mpi_comm_world"));
    mpi.no_communicator = static_cast<MPI_Comm>(names.variable("ompi_mpi_comm_null"));
    mpi.no_request = static_cast<MPI_Request>(names.variable("ompi_request_null"));
    mpi.byte = static_cast<MPI_Datatype>(names.variable("ompi_mpi_byte"));
    const auto common = [&](const char* name, std::uint64_t byte) {
        return CommonType{.handle = static_cast<MPI_Datatype>(names.variable(name)), .byte = byte};
    };
    mpi.common_types = {common("ompi_mpi_double", sizeof(double)),
                        common("ompi_mpi_dblprec", sizeof(double)),
                        common("ompi_mpi_byte", 1),
                        common("ompi_mpi_int", sizeof(int)),
                        common("ompi_mpi_char", 1),
                        common("ompi_mpi_float", sizeof(float)),
                        common("ompi_mpi_unsigned", sizeof(int))};
}

#else

void take_handles(Mpi& mpi, const LookUp& /*names*/) {
    mpi.world = MPI_COMM_WORLD;
    mpi.no_communicator = MPI_COMM_NULL;
    mpi.no_request = MPI_REQUEST_NULL;
    mpi.byte = MPI_BYTE;
    mpi.common_types = {{{MPI_DOUBLE, sizeof(double)},
                         {MPI_DOUBLE_PRECISION, sizeof(double)},
                         {MPI_BYTE, 1},
                         {MPI_INT, sizeof(int)},
                         {MPI_CHAR, 1},
                         {MPI_FLOAT, sizeof(float)},
                         {MPI_UNSIGNED, sizeof(int)}}};
}

#endif

/// MPI 5's own interface is a third one, which both kinds of libraries come to offer beside theirs.
bool is_of_standard_interface() {
    Dl_info place{};
    return ::dladdr(find_next("PMPI_Init"), &place) != 0 &&
           std::string_view{place.dli_fname}.find("libmpi_abi") != std::string_view::npos;
}

}  // namespace

Family family() {
    if (is_of_standard_interface()) {
        return Family::other;
    }
    if (find_variable("ompi_mpi_comm_world") != nullptr) {
        return Family::open_mpi;
    }
    // mpi.h gives this name to programs, so that every library of this kind has it.
    return find_next("MPIR_Dup_fn") != nullptr ? Family::mpich : Family::other;
}

std::optional<Mpi> Mpi::find() {
    if (family() != own_family) {
        return std::nullopt;
    }
    LookUp names;
    Mpi mpi{};
    take_handles(mpi, names);
    // NOLINTBEGIN(cppcoreguidelines-macro-usage, cppcoreguidelines-pro-type-reinterpret-cast): as in mpi.hpp
#define TARE_LOOK_UP(name) mpi.name = reinterpret_cast<decltype(mpi.name)>(names.function("PMPI_" #name));
    TARE_MPI_USED(TARE_LOOK_UP)
#undef TARE_LOOK_UP
    // NOLINTEND(cppcoreguidelines-macro-usage, cppcoreguidelines-pro-type-reinterpret-cast)
    return names.is_whole() ? std::optional{mpi} : std::nullopt;
}

}  // namespace tare::profile
