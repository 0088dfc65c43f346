// SPDX-License-Identifier: Apache-2.0
// The functions that stand before MPI's: two names for each call of the table. Programs in C and C++ call by
// MPI_. Open MPI's Fortran interfaces (mpif.h, mpi, mpi_f08) call by PMPI_ with arguments already made C's,
// so that these names see them too, and no wrapper in Fortran is needed; what MPI calls of its own within a
// call is not counted again (Scope).
#include "profile/library/caller.hpp"
#include "profile/library/communicator_effects.hpp"
#include "profile/library/file_effects.hpp"
#include "profile/library/message_effects.hpp"
#include "profile/library/movement.hpp"
#include "profile/library/next.hpp"
#include "profile/library/request_effects.hpp"
#include "profile/library/seen.hpp"

// NOLINTBEGIN(cppcoreguidelines-macro-usage, bugprone-macro-parentheses): only macros make names, and types
// and lists of arguments cannot stand in parentheses
// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name, readability-identifier-length): mpi.h's
// NOLINTBEGIN(cppcoreguidelines-avoid-c-arrays, modernize-avoid-c-arrays): as mpi.h declares them

#define TARE_UNPACKED(...) __VA_ARGS__

#define TARE_MOVES(sent, received)                     \
    Moves {                                            \
        [&] { return sent; }, [&] { return received; } \
    }

#define TARE_MEETS(part, sent, received)                                                   \
    Meets {                                                                                \
        communicator, [&] { return part; }, [&] { return sent; }, [&] { return received; } \
    }

#define TARE_WRAPPED(share, name, parameters, arguments, ...)                                    \
    namespace {                                                                                  \
    [[gnu::always_inline]] inline int measured_##name(Caller caller, TARE_UNPACKED parameters) { \
        [[maybe_unused]] const Layer layer = caller.layer;                                       \
        Scope scope{Call::name, Share::share, caller};                                           \
        const auto next = [&] { return scope.next<int(TARE_UNPACKED parameters)>() arguments; }; \
        return scope.measures() ? scope.measure(__VA_ARGS__, next) : next();                     \
    }                                                                                            \
    }                                                                                            \
    TARE_SEEN(MPI_##name, parameters) {                                                          \
        return measured_##name(TARE_CALLER_OF_MPI, TARE_UNPACKED arguments);                     \
    }                                                                                            \
    TARE_SEEN(PMPI_##name, parameters) {                                                         \
        return measured_##name(TARE_CALLER_OF_PMPI, TARE_UNPACKED arguments);                    \
    }

#define TARE_WRAPPED_PAIR(share, waiting, begun, parameters, arguments, ...)      \
    TARE_WRAPPED(share, waiting, parameters, arguments, __VA_ARGS__)              \
    TARE_WRAPPED(share, begun, (TARE_UNPACKED parameters, MPI_Request * request), \
                 (TARE_UNPACKED arguments, request), (Begins{request, __VA_ARGS__}))

// A row may hold a macro for several of the arguments: these make it several before they are told apart.
#define TARE_MPI_CALL(...) TARE_WRAPPED(__VA_ARGS__)
#define TARE_MPI_PAIR(...) TARE_WRAPPED_PAIR(__VA_ARGS__)

namespace tare::profile {

#include "profile/table/communicators.inc"
#include "profile/table/messages.inc"
#include "profile/table/requests.inc"
//
#include "profile/table/collectives.inc"
#include "profile/table/neighbours.inc"
//
#include "profile/table/files.inc"
#include "profile/table/one_sided.inc"

}  // namespace tare::profile

// NOLINTEND(cppcoreguidelines-avoid-c-arrays, modernize-avoid-c-arrays)
// NOLINTEND(readability-inconsistent-declaration-parameter-name, readability-identifier-length)
// NOLINTEND(cppcoreguidelines-macro-usage, bugprone-macro-parentheses)
