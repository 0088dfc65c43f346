// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profile/library/effects.hpp"

namespace tare::profile {

/// Whether anything came: a receive from MPI_PROC_NULL brings nothing.
[[nodiscard]] inline bool is_message(const MPI_Status& status) { return status.MPI_SOURCE >= 0; }

inline void describe_receipt(const Route& route, const MPI_Status& status, Entry& entry) {
    entry.peer = route.world_rank(status.MPI_SOURCE);
    entry.tag = status.MPI_TAG;
    entry.context = route.stream(status.MPI_TAG);
    entry.received_byte = data_byte(status);
}

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
    void complete(Scope& scope) const { describe(scope, scope.entry()); }
    /// Says so in an entry, unless it went to nobody.
    void describe(const Scope& scope, Entry& entry) const;

  private:
    Destination to_;
};

class Receives {
  public:
    Receives(MPI_Status*& status, MPI_Comm communicator) : status_{status}, communicator_{communicator} {}
    void prepare(Scope& /*scope*/) { status_.ask(); }
    void complete(Scope& scope) const { describe(scope, scope.entry()); }
    void describe(const Scope& scope, Entry& entry) const;

  private:
    SeenStatus status_;
    MPI_Comm communicator_;
};

/// One call that does both.
class SendsAndReceives {
  public:
    SendsAndReceives(Sends sends, Receives receives) : sends_{sends}, receives_{receives} {}
    void prepare(Scope& scope) { receives_.prepare(scope); }
    void complete(Scope& scope) const;

  private:
    Sends sends_;
    Receives receives_;
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

[[gnu::always_inline]] inline void Sends::describe(const Scope& scope, Entry& entry) const {
    if (to_.peer == MPI_PROC_NULL) {
        return;
    }
    const Route& route = scope.profile().communicators().route(to_.communicator);
    entry.did = Did::sent;
    entry.send(data_byte(scope.profile().mpi(), to_.count, to_.type));
    entry.peer = route.world_rank(to_.peer);
    entry.tag = to_.tag;
    entry.context = route.stream(to_.tag);
}

[[gnu::always_inline]] inline void Receives::describe(const Scope& scope, Entry& entry) const {
    if (is_message(status_.seen())) {
        describe_receipt(scope.profile().communicators().route(communicator_), status_.seen(), entry);
        entry.did = Did::received;
        entry.has_received = true;
    }
}

inline void PostsReceive::complete(Scope& scope) const {
    if (peer_ != MPI_PROC_NULL) {
        Entry& entry = scope.entry();
        entry.did = Did::posted;
        entry.request = key_of(*request_);
        scope.profile().expect(entry.request);
        entry.context = bits_of(communicator_);
        const Route& route = scope.profile().communicators().route(communicator_);
        const bool is_like_world = route.world_ranks == nullptr;
        entry.peer = peer_ >= 0 ? route.world_rank(peer_) : is_like_world ? any_of_world : any_of_others;
    }
}

}  // namespace tare::profile
