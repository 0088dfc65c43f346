// SPDX-License-Identifier: Apache-2.0
// What calls do beside taking time. `prepare` runs before the call, `complete` after it has succeeded, and
// with the profile locked.
#pragma once

#include "profile/library/scope.hpp"
#include "profile/library/sizes.hpp"

namespace tare::profile {

struct Nothing {
    void prepare(Scope& /*scope*/) const {}
    void complete(Scope& /*scope*/) const {}
};

/// What a call does that returns before it is done. A trace tells when its request ends.
template <typename Effect>
class Begins {
  public:
    Begins(const MPI_Request* request, Effect effect) : request_{request}, effect_{effect} {}

    void prepare(Scope& scope) { effect_.prepare(scope); }
    void complete(Scope& scope) {
        effect_.complete(scope);
        if (scope.profile().trace() != nullptr) [[unlikely]] {
            Entry begun = scope.further();
            begun.site = 0;
            begun.did = Did::begun;
            begun.request = bits_of(*request_);
            scope.profile().expect(begun.request);
            scope.profile().write_down(begun);
        }
    }

  private:
    const MPI_Request* request_;
    Effect effect_;
};

/// A status that the program may not have asked for.
class SeenStatus {
  public:
    /// `status` is the argument of the call, which then gets a place.
    explicit SeenStatus(MPI_Status*& status) : status_{&status} {}

    void ask() {
        if (*status_ == MPI_STATUS_IGNORE) {
            *status_ = &own_;
        }
    }
    [[nodiscard]] const MPI_Status& seen() const { return **status_; }

  private:
    MPI_Status** status_;
    MPI_Status own_{};
};

}  // namespace tare::profile
