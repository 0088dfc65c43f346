// SPDX-License-Identifier: Apache-2.0
// The ends of requests. What is known of one is taken out of the profile before the call: MPI may give its
// handle to another thread as soon as it has ended, before this thread goes on.
#pragma once

#include <vector>

#include "profile/library/effects.hpp"

namespace tare::profile {

/// What was known of a request; empty if that is nothing, or nothing of it is under way.
using Taken = Requests::node_type;

/// One request; `flag` null: the call waits for its end.
class CompletesOne {
  public:
    CompletesOne(const MPI_Request* request, const int* flag, MPI_Status*& status)
        : request_{*request}, flag_{flag}, status_{status} {}
    void prepare(Scope& scope);
    void complete(Scope& scope);

  private:
    MPI_Request request_;
    const int* flag_;
    SeenStatus status_;
    Taken taken_;
};

/// The requests of a call.
class TakenRequests {
  public:
    TakenRequests(int count, const MPI_Request* requests)
        : requests_{requests, static_cast<std::size_t>(std::max(count, 0))} {}

    /// Whether there is any whose end must be looked at.
    bool take(Scope& scope);
    [[nodiscard]] bool any() const { return !taken_.empty(); }
    [[nodiscard]] std::size_t size() const { return requests_.size(); }
    [[nodiscard]] Taken& at(int index) { return taken_.at(static_cast<std::size_t>(index)); }
    /// Those that have not ended go back.
    void put_back(Scope& scope);

  private:
    std::span<const MPI_Request> requests_;
    /// Empty, or one for each request.
    std::vector<Taken> taken_;
};

/// Statuses that the program may not have asked for.
class SeenStatuses {
  public:
    explicit SeenStatuses(MPI_Status*& statuses) : statuses_{&statuses} {}
    void ask(std::size_t count);
    [[nodiscard]] const MPI_Status& at(int index) const;

  private:
    MPI_Status** statuses_;
    std::vector<MPI_Status> own_;
    std::size_t count_ = 0;
};

/// All of several or, with a flag of 0, none.
class CompletesAll {
  public:
    CompletesAll(int count, const MPI_Request* requests, const int* flag, MPI_Status*& statuses)
        : requests_{count, requests}, flag_{flag}, statuses_{statuses} {}
    void prepare(Scope& scope);
    void complete(Scope& scope);

  private:
    TakenRequests requests_;
    const int* flag_;
    SeenStatuses statuses_;
};

/// One of several.
class CompletesAny {
  public:
    CompletesAny(int count, const MPI_Request* requests, const int* index, MPI_Status*& status)
        : requests_{count, requests}, index_{index}, status_{status} {}
    void prepare(Scope& scope);
    void complete(Scope& scope);

  private:
    TakenRequests requests_;
    const int* index_;
    SeenStatus status_;
};

/// Those of several that have ended.
class CompletesSome {
  public:
    CompletesSome(int count, const MPI_Request* requests, const int* completed, const int* indices,
                  MPI_Status*& statuses)
        : requests_{count, requests}, completed_{completed}, indices_{indices}, statuses_{statuses} {}
    void prepare(Scope& scope);
    void complete(Scope& scope);

  private:
    TakenRequests requests_;
    const int* completed_;
    const int* indices_;
    SeenStatuses statuses_;
};

/// A receive that is given up so may end at any time, or never.
class FreesRequest : public Nothing {
  public:
    explicit FreesRequest(const MPI_Request* request) : request_{*request} {}
    void prepare(Scope& scope) const;

  private:
    MPI_Request request_;
};

class Cancels : public Nothing {
  public:
    explicit Cancels(const MPI_Request* request) : request_{*request} {}
    void prepare(Scope& scope) const;

  private:
    MPI_Request request_;
};

}  // namespace tare::profile
