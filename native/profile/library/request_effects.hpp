// SPDX-License-Identifier: Apache-2.0
// The ends of requests.
#pragma once

#include <utility>

#include "profile/library/effects.hpp"
#include "profile/library/next.hpp"
#include "profile/library/room.hpp"
#include "profile/library/waiting.hpp"

namespace tare::profile {

/// Nothing came of what was cancelled.
inline void describe_end(RequestKey key, const MPI_Status& status, Entry& entry) {
    entry.did = Did::ended;
    entry.request = key;
    entry.peer = is_cancelled(status) ? MPI_PROC_NULL : status.MPI_SOURCE;
    entry.tag = status.MPI_TAG;
    entry.received_byte = data_byte(status);
}

/// Whether it matters before the call what its requests are.
[[nodiscard]] inline bool is_watched(const Profile& profile) {
    return profile.is_threaded() || profile.has_files();
}

/// Those that a call is to wait for, as the profile knows them. Where threads call at once they are taken out
/// of the others' reach before the call: MPI may give a handle to another thread as soon as its request has
/// ended, before this thread goes on.
class AwaitedRequests {
  public:
    AwaitedRequests(int count, const MPI_Request* requests)
        : handles_{requests, static_cast<std::size_t>(std::max(count, 0))} {}

    /// Before the call, which overwrites the handles. What waits for files alone counts for them.
    void look_at(Scope& scope) {
        keys_ = room_.take(handles_.size());
        std::transform(handles_.begin(), handles_.end(), keys_.begin(), key_of);
        if (is_watched(scope.profile())) [[unlikely]] {
            watch(scope);
        }
    }
    /// One of them has ended so.
    void end(Scope& scope, int index, const MPI_Status& status) {
        const RequestKey key = std::exchange(keys_[static_cast<std::size_t>(index)], 0);
        if (scope.profile().expects(key)) {
            Entry entry = scope.further();
            describe_end(key, status, entry);
            scope.profile().write_down(entry);
        }
    }
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
    void prepare(Scope& scope) {
        status_.ask();
        if (is_watched(scope.profile())) [[unlikely]] {
            look_at(scope);
        }
    }
    void complete(Scope& scope) const {
        if (flag_ == nullptr || *flag_ != 0) {
            if (scope.profile().expects(key_)) {
                describe_end(key_, status_.seen(), scope.entry());
            }
        } else if (scope.profile().is_threaded()) {
            scope.profile().requests().release(key_);
        }
    }

  private:
    void look_at(Scope& scope);

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
    [[nodiscard]] int perform(const Scope& scope, Next next) const {
        return wait_and_count(scope.profile(), next, [&](int* is_over) {
            return next_function<decltype(::MPI_Test)>(Call::Test, layer_)(request_, is_over, *status_);
        });
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
    void prepare(Scope& scope) {
        requests_.look_at(scope);
        statuses_.ask(requests_.size());
    }
    void complete(Scope& scope) {
        if (flag_ != nullptr && *flag_ == 0) {
            requests_.release(scope);
            return;
        }
        for (int index = 0; index < static_cast<int>(requests_.size()); ++index) {
            requests_.end(scope, index, statuses_.at(index));
        }
    }

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
        return wait_and_count(scope.profile(), next, [&](int* is_over) {
            return next_function<decltype(::MPI_Testall)>(Call::Testall, layer_)(count_, requests_, is_over,
                                                                                 *statuses_);
        });
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
