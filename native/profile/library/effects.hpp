// SPDX-License-Identifier: Apache-2.0
// What calls do beside taking time. `prepare`, which few have, runs before the call, and lets it begin anew
// after what took time (Scope::begin); `complete` runs after it has succeeded, and with the profile locked.
#pragma once

#include "profile/library/scope.hpp"

namespace tare::profile {

struct Nothing {
    void complete(Scope& /*scope*/) const {}
};

/// A request begins of which only a trace tells.
[[gnu::noinline, gnu::cold]] void note_begun(Scope& scope, RequestKey request);

/// What a call does that returns before it is done. A trace tells when its request ends.
template <typename Effect>
class Begins {
  public:
    Begins(const MPI_Request* request, Effect effect) : request_{request}, effect_{effect} {}

    void complete(Scope& scope) {
        effect_.complete(scope);
        if (scope.profile().trace() != nullptr) [[unlikely]] {
            note_begun(scope, bits_of(*request_));
        }
    }

  private:
    const MPI_Request* request_;
    Effect effect_;
};

/// A status that the program may not have asked for.
class SeenStatus {
  public:
    /// `status` is the argument of the call, which may get a place here.
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): the call fills it
    explicit SeenStatus(MPI_Status*& status) : status_{&status} {
        if (status == MPI_STATUS_IGNORE) {
            status = &own_;
        }
    }
    SeenStatus(const SeenStatus&) = delete;
    SeenStatus& operator=(const SeenStatus&) = delete;
    SeenStatus(SeenStatus&&) = delete;
    SeenStatus& operator=(SeenStatus&&) = delete;
    ~SeenStatus() = default;

    [[nodiscard]] const MPI_Status& seen() const { return **status_; }

  private:
    MPI_Status** status_;
    MPI_Status own_;
};

}  // namespace tare::profile
