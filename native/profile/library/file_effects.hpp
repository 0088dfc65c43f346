// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profile/library/effects.hpp"

namespace tare::profile {

/// What was really read, which may be less than was asked for.
class Reads {
  public:
    explicit Reads(MPI_Status*& status) : status_{status} {}
    void complete(Scope& scope) const {
        scope.entry().has_received = true;
        scope.entry().received_byte = data_byte(status_.seen());
    }

  private:
    SeenStatus status_;
};

class Writes : public Nothing {
  public:
    Writes(int count, MPI_Datatype type) : count_{count}, type_{type} {}
    void complete(Scope& scope) const { scope.entry().send(scope.profile().data_byte(count_, type_)); }

  private:
    int count_;
    MPI_Datatype type_;
};

class BeginsRead : public Nothing {
  public:
    explicit BeginsRead(const MPI_Request* request) : request_{request} {}
    void complete(Scope& scope) const {
        scope.profile().track(
            *request_, {.kind = Tracked::Kind::read, .call = scope.entry().call, .site = scope.entry().site});
    }

  private:
    const MPI_Request* request_;
};

/// Counted as written when it begins; waiting for its end is time of files too.
class BeginsWrite : public Nothing {
  public:
    BeginsWrite(int count, MPI_Datatype type, const MPI_Request* request)
        : written_{count, type}, request_{request} {}
    void complete(Scope& scope) const {
        written_.complete(scope);
        scope.profile().track(
            *request_,
            {.kind = Tracked::Kind::write, .call = scope.entry().call, .site = scope.entry().site});
    }

  private:
    Writes written_;
    const MPI_Request* request_;
};

}  // namespace tare::profile
