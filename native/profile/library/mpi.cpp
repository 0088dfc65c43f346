// SPDX-License-Identifier: Apache-2.0
#include "profile/library/mpi.hpp"

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

}  // namespace

std::optional<Mpi> Mpi::find() {
    LookUp names;
    Mpi mpi{};
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
    // NOLINTBEGIN(cppcoreguidelines-macro-usage, cppcoreguidelines-pro-type-reinterpret-cast): as in mpi.hpp
#define TARE_LOOK_UP(name) mpi.name = reinterpret_cast<decltype(mpi.name)>(names.function("PMPI_" #name));
    TARE_MPI_USED(TARE_LOOK_UP)
#undef TARE_LOOK_UP
    // NOLINTEND(cppcoreguidelines-macro-usage, cppcoreguidelines-pro-type-reinterpret-cast)
    return names.is_whole() ? std::optional{mpi} : std::nullopt;
}

}  // namespace tare::profile
