// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profile/library/effects.hpp"

namespace tare::profile {

/// Where a message goes.
struct Destination {
    int count;
    MPI_Datatype type;
    int peer;
    int tag;
    MPI_Comm communicator;
};

class Sends : public Nothing {
  public:
    Sends(int count, MPI_Datatype type, int peer, int tag, MPI_Comm communicator)
        : to_{.count = count, .type = type, .peer = peer, .tag = tag, .communicator = communicator} {}
    void complete(Scope& scope) const;

  private:
    Destination to_;
};

class Receives {
  public:
    Receives(MPI_Status*& status, MPI_Comm communicator) : status_{status}, communicator_{communicator} {}
    void prepare(Scope& /*scope*/) { status_.ask(); }
    void complete(Scope& scope) const;

  private:
    SeenStatus status_;
    MPI_Comm communicator_;
};

/// A receive whose end another call waits for.
class PostsReceive : public Nothing {
  public:
    PostsReceive(int peer, MPI_Comm communicator, const MPI_Request* request)
        : peer_{peer}, communicator_{communicator}, request_{request} {}
    void complete(Scope& scope) const;

  private:
    int peer_;
    MPI_Comm communicator_;
    const MPI_Request* request_;
};

/// A probe that takes a message out of those that others can receive; `flag` null: it waited for one.
class Matches {
  public:
    Matches(const MPI_Message* message, const int* flag, MPI_Status*& status, MPI_Comm communicator)
        : message_{message}, flag_{flag}, status_{status}, communicator_{communicator} {}
    void prepare(Scope& /*scope*/) { status_.ask(); }
    void complete(Scope& scope) const;

  private:
    const MPI_Message* message_;
    const int* flag_;
    SeenStatus status_;
    MPI_Comm communicator_;
};

class ReceivesMatched {
  public:
    ReceivesMatched(const MPI_Message* message, MPI_Status*& status) : message_{*message}, status_{status} {}
    void prepare(Scope& scope);
    void complete(Scope& scope) const;

  private:
    MPI_Message message_;
    SeenStatus status_;
    MatchedMessages::node_type matched_;
};

class PostsMatched {
  public:
    PostsMatched(const MPI_Message* message, const MPI_Request* request)
        : message_{*message}, request_{request} {}
    void prepare(Scope& scope);
    void complete(Scope& scope) const;

  private:
    MPI_Message message_;
    const MPI_Request* request_;
    MatchedMessages::node_type matched_;
};

/// A send that is prepared once and started many times.
class PreparesSend : public Nothing {
  public:
    PreparesSend(int count, MPI_Datatype type, int peer, int tag, MPI_Comm communicator,
                 const MPI_Request* request)
        : to_{.count = count, .type = type, .peer = peer, .tag = tag, .communicator = communicator},
          request_{request} {}
    void complete(Scope& scope) const;

  private:
    Destination to_;
    const MPI_Request* request_;
};

class PreparesReceive : public Nothing {
  public:
    PreparesReceive(int peer, MPI_Comm communicator, const MPI_Request* request)
        : peer_{peer}, communicator_{communicator}, request_{request} {}
    void complete(Scope& scope) const;

  private:
    int peer_;
    MPI_Comm communicator_;
    const MPI_Request* request_;
};

/// Starts what was prepared.
class Starts : public Nothing {
  public:
    Starts(int count, const MPI_Request* requests)
        : requests_{requests, static_cast<std::size_t>(std::max(count, 0))} {}
    void complete(Scope& scope) const;

  private:
    std::span<const MPI_Request> requests_;
};

}  // namespace tare::profile
