// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profile/library/effects.hpp"

namespace tare::profile {

class Makes : public Nothing {
  public:
    explicit Makes(const MPI_Comm* made) : made_{made} {}
    void complete(Scope& scope) const {
        scope.profile().settle();
        scope.profile().communicators().add_made(*made_);
    }

  private:
    const MPI_Comm* made_;
};

/// MPI_Comm_idup: nothing may be asked of it yet, and its handle may have been that of one freed unseen.
class BeginsToMake : public Nothing {
  public:
    explicit BeginsToMake(const MPI_Comm* made) : made_{made} {}
    void complete(Scope& scope) const {
        scope.profile().settle();
        scope.profile().communicators().forget(*made_);
    }

  private:
    const MPI_Comm* made_;
};

/// The handle may be given to another communicator as soon as it is free.
class Frees : public Nothing {
  public:
    explicit Frees(const MPI_Comm* communicator) : communicator_{*communicator} {}
    void prepare(Scope& scope) const {
        const auto lock = scope.profile().lock();
        scope.profile().settle();
        scope.profile().communicators().forget(communicator_);
        scope.begin();
    }

  private:
    MPI_Comm communicator_;
};

}  // namespace tare::profile
