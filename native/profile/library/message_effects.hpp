// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profile/library/effects.hpp"

namespace tare::profile {

/// Where a message goes.
struct Destination {
    MPI_Datatype type;
    MPI_Comm communicator;
    int count;
    int peer;
    int tag;
};

class Sends : public Nothing {
  public:
    Sends(int count, MPI_Datatype type, int peer, int tag, MPI_Comm communicator)
        : to_{.type = type, .communicator = communicator, .count = count, .peer = peer, .tag = tag} {}
    void complete(Scope& scope) const { describe(scope, scope.entry()); }
    /// Says so in an entry, unless it went to nobody.
    void describe(const Scope& scope, Entry& entry) const;

  private:
    Destination to_;
};

class Receives {
  public:
    Receives(MPI_Status*& status, MPI_Comm communicator) : status_{status}, communicator_{communicator} {}
    void complete(Scope& scope) const { describe(scope, scope.entry()); }
    void describe(const Scope& scope, Entry& entry) const;

  private:
    SeenStatus status_;
    MPI_Comm communicator_;
};

/// One call that does both.
class SendsAndReceives {
  public:
    SendsAndReceives(Sends sends, MPI_Status*& status, MPI_Comm communicator)
        : sends_{sends}, receives_{status, communicator} {}
    void complete(Scope& scope) const;

  private:
    Sends sends_;
    Receives receives_;
};

/// A receive has begun; in a function of its own, so that what is told of it lies in registers.
void note_post(Scope& scope, int peer, MPI_Comm communicator, MPI_Request request);

/// A receive whose end another call waits for.
class PostsReceive : public Nothing {
  public:
    PostsReceive(int peer, MPI_Comm communicator, const MPI_Request* request)
        : peer_{peer}, communicator_{communicator}, request_{request} {}
    void complete(Scope& scope) const { note_post(scope, peer_, communicator_, *request_); }

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
        : send_{count, type, peer, tag, communicator}, request_{request} {}
    void complete(Scope& scope) const;

  private:
    Sends send_;
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
