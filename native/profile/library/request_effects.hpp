// SPDX-License-Identifier: Apache-2.0
// The ends of requests.
#pragma once

#include "profile/library/effects.hpp"
#include "profile/library/next.hpp"
#include "profile/library/room.hpp"
#include "profile/library/waiting.hpp"

namespace tare::profile {

/// A request has ended so. What is told of here lies in registers, and so do the objects below while nothing
/// unusual happens.
void note_end(Scope& scope, RequestKey key, const MPI_Status& status);
/// It has not.
void note_no_end(const Scope& scope, RequestKey key);
/// What is to be done before a call that may end it. The key it is known by from here on.
[[nodiscard]] RequestKey watch_end(Scope& scope, RequestKey key);

/// Those that a call is to wait for, as the profile knows them. Where threads call at once they are taken out
/// of the others' reach before the call: MPI may give a handle to another thread as soon as its request has
/// ended, before this thread goes on.
class AwaitedRequests {
  public:
    AwaitedRequests(int count, const MPI_Request* requests)
        : handles_{requests, static_cast<std::size_t>(std::max(count, 0))} {}

    /// Before the call, which overwrites the handles. What waits for files alone counts for them.
    void look_at(Scope& scope);
    /// One of them has ended so.
    void end(Scope& scope, int index, const MPI_Status& status);
    /// The others have not.
    void release(Scope& scope) const;
    [[nodiscard]] std::size_t size() const { return handles_.size(); }

  private:
    void watch(Scope& scope);

    std::span<const MPI_Request> handles_;
    Room<RequestKey> room_;
    /// 0 once it has ended.
    std::span<RequestKey> keys_;
};

/// One request; `flag` null: the call waits for its end.
class CompletesOne {
  public:
    CompletesOne(const MPI_Request* request, const int* flag, MPI_Status*& status)
        : key_{key_of(*request)}, flag_{flag}, status_{status} {}
    template <typename Next>
    [[nodiscard]] int perform(Scope& scope, Next next) {
        look_at(scope);
        return next();
    }
    void complete(Scope& scope) const {
        if (flag_ == nullptr || *flag_ != 0) {
            note_end(scope, key_, status_.seen());
        } else {
            note_no_end(scope, key_);
        }
    }

  protected:
    void look_at(Scope& scope) {
        if (scope.profile().watches_requests()) [[unlikely]] {
            key_ = watch_end(scope, key_);
        }
    }

  private:
    RequestKey key_;
    const int* flag_;
    SeenStatus status_;
};

/// A call that waits for one.
class WaitsForOne : public CompletesOne {
  public:
    WaitsForOne(Layer layer, MPI_Request* request, MPI_Status*& status)
        : CompletesOne{request, nullptr, status}, layer_{layer}, request_{request}, status_{&status} {}

    template <typename Next>
    [[nodiscard]] int perform(Scope& scope, Next next) {
        look_at(scope);
        if (scope.profile().has_backlog()) [[unlikely]] {
            const auto test = [layer = layer_, request = request_, status = *status_] {
                Tested tested{};
                auto* const next_test = next_function<decltype(::MPI_Test)>(Call::Test, layer);
                tested.code = next_test(request, &tested.is_over, status);
                return tested;
            };
            const Tested tested = count_and_test(scope.profile(), test);
            if (tested.is_last()) {
                return tested.code;
            }
        }
        return next();
    }

  private:
    Layer layer_;
    MPI_Request* request_;
    MPI_Status** status_;
};

/// Statuses that the program may not have asked for.
class SeenStatuses {
  public:
    explicit SeenStatuses(MPI_Status*& statuses) : statuses_{&statuses} {}
    void ask(std::size_t count) {
        count_ = count;
        if (*statuses_ == MPI_STATUSES_IGNORE) {
            *statuses_ = own_.take(count).data();
        }
    }
    [[nodiscard]] const MPI_Status& at(int index) const {
        return std::span{*statuses_, count_}[static_cast<std::size_t>(index)];
    }

  private:
    MPI_Status** statuses_;
    Room<MPI_Status> own_;
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
    AwaitedRequests requests_;
    const int* flag_;
    SeenStatuses statuses_;
};

/// A call that waits for all of several.
class WaitsForAll : public CompletesAll {
  public:
    WaitsForAll(Layer layer, int count, MPI_Request* requests, MPI_Status*& statuses)
        : CompletesAll{count, requests, nullptr, statuses},
          layer_{layer},
          count_{count},
          requests_{requests},
          statuses_{&statuses} {}

    template <typename Next>
    [[nodiscard]] int perform(const Scope& scope, Next next) const {
        if (scope.profile().has_backlog()) [[unlikely]] {
            const auto test = [layer = layer_, count = count_, requests = requests_, statuses = *statuses_] {
                Tested tested{};
                auto* const next_test = next_function<decltype(::MPI_Testall)>(Call::Testall, layer);
                tested.code = next_test(count, requests, &tested.is_over, statuses);
                return tested;
            };
            const Tested tested = count_and_test(scope.profile(), test);
            if (tested.is_last()) {
                return tested.code;
            }
        }
        return next();
    }

  private:
    Layer layer_;
    int count_;
    MPI_Request* requests_;
    MPI_Status** statuses_;
};

/// One of several.
class CompletesAny {
  public:
    CompletesAny(int count, const MPI_Request* requests, const int* index, MPI_Status*& status)
        : requests_{count, requests}, index_{index}, status_{status} {}
    void prepare(Scope& scope);
    void complete(Scope& scope);

  private:
    AwaitedRequests requests_;
    const int* index_;
    SeenStatus status_;
};

/// Several requests of which some have ended.
class CompletesSome {
  public:
    CompletesSome(int count, const MPI_Request* requests, const int* completed, const int* indices,
                  MPI_Status*& statuses)
        : requests_{count, requests}, completed_{completed}, indices_{indices}, statuses_{statuses} {}
    void prepare(Scope& scope);
    void complete(Scope& scope);

  private:
    AwaitedRequests requests_;
    const int* completed_;
    const int* indices_;
    SeenStatuses statuses_;
};

/// A receive that is given up so may end at any time, or never.
class FreesRequest : public Nothing {
  public:
    explicit FreesRequest(const MPI_Request* request) : request_{key_of(*request)} {}
    void prepare(Scope& scope) const;

  private:
    RequestKey request_;
};

class Cancels : public Nothing {
  public:
    explicit Cancels(const MPI_Request* request) : request_{key_of(*request)} {}
    void prepare(Scope& scope) const;

  private:
    RequestKey request_;
};

}  // namespace tare::profile
