// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <limits>
#include <memory>
#include <unordered_map>
#include <vector>

#include "profile/call.hpp"
#include "profile/journal.hpp"
#include "profile/library/abi.hpp"
#include "profile/library/communicators.hpp"
#include "profile/library/message_log.hpp"

namespace tare::profile {

/// A request: its handle, or a number that stands for it while a call waits for its end (Requests::claim).
using RequestKey = std::uint64_t;

[[nodiscard]] inline RequestKey key_of(MPI_Request handle) { return bits_of(handle); }

/// A number of so many bits, by the golden ratio (Knuth, The Art of Computer Programming 3, section 6.4):
/// keys are addresses at even distances.
[[nodiscard]] inline std::size_t hashed(RequestKey key, unsigned bits) {
    constexpr unsigned key_bits = std::numeric_limits<RequestKey>::digits;
    constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;
    return (key * golden) >> (key_bits - bits);
}

/// A request whose end tells something: what a receive or a read brought, and who was waited for. Plain sends
/// are counted when they begin, so that their requests need not be known.
struct Tracked {
    enum class Kind : std::uint8_t { receive, read, write, send };

    Kind kind = Kind::receive;
    /// Whether something is under way; a persistent request is there before it is started.
    bool active = true;
    bool persistent = false;
    /// Whether the log knows of the message already, by the probe that matched it.
    bool logged = false;
    /// What the data count for.
    Call call = Call::none;
    std::uint64_t site = 0;
    Slot slot = no_slot;
    /// The number by which a trace knows what is under way.
    std::uint32_t traced = 0;
    std::shared_ptr<const Communicator> communicator = nullptr;
    /// What each start of a persistent send does.
    std::uint64_t byte = 0;
    int to_world_rank = 0;
    int tag = 0;
    Stream stream = 0;

    [[nodiscard]] bool of_file() const { return kind == Kind::read || kind == Kind::write; }
};

/// Which requests may be known of, in one line of the cache: the ends of all others, such as sends,
/// need not be written down. MPI hands out the same places again and again, each for one kind of request.
class Expected {
  public:
    void add(RequestKey key) { word(key) |= bit(key); }
    /// True now and then also for one that was not added.
    [[nodiscard]] bool has(RequestKey key) const { return (words_.at(index(key)) & bit(key)) != 0; }

  private:
    static constexpr std::size_t word_bits = 64;
    static constexpr std::size_t words = cache_line_byte / sizeof(std::uint64_t);
    static constexpr unsigned place_bits = std::bit_width(words * word_bits - 1);

    [[nodiscard]] static std::size_t index(RequestKey key) { return hashed(key, place_bits) / word_bits; }
    [[nodiscard]] static std::uint64_t bit(RequestKey key) {
        return std::uint64_t{1} << (hashed(key, place_bits) % word_bits);
    }
    [[nodiscard]] std::uint64_t& word(RequestKey key) { return words_.at(index(key)); }

    alignas(cache_line_byte) std::array<std::uint64_t, words> words_{};
};

/// What is known of requests. Each receive comes and goes here, so that all lies in one array, found by
/// hashing with linear probing (Knuth, The Art of Computer Programming 3, section 6.4, algorithms L and R).
class Requests {
  public:
    /// Null if nothing is known.
    [[nodiscard]] Tracked* find(RequestKey key);
    /// Takes the place of what was known before.
    void put(RequestKey key, Tracked tracked);
    void remove(RequestKey key);
    [[nodiscard]] std::size_t size() const { return known_; }

    /// Takes what is under way out of the reach of its handle, which MPI may give to another thread before
    /// the end is counted. The key it is known by from here on; `key` if nothing is under way.
    [[nodiscard]] RequestKey claim(RequestKey key);
    /// It has not ended, or may be started again.
    void release(RequestKey claimed);

  private:
    struct Place {
        /// 0: nothing is here.
        RequestKey key = 0;
        Tracked tracked{};
    };

    [[nodiscard]] std::size_t home(RequestKey key) const { return hashed(key, bits_); }
    [[nodiscard]] std::size_t after(std::size_t place) const { return (place + 1) & (places_.size() - 1); }
    /// Where it is, or would come.
    [[nodiscard]] Place& place_of(RequestKey key);
    void close_gap(std::size_t gap);
    void grow();

    static constexpr unsigned first_bits = 4;

    /// A power of two of them, at most half in use.
    std::vector<Place> places_ = std::vector<Place>(std::size_t{1} << first_bits);
    unsigned bits_ = first_bits;
    std::size_t known_ = 0;
    /// The handles behind claims, whose first bit no handle has.
    std::unordered_map<RequestKey, RequestKey> claimed_;
    RequestKey next_claim_ = RequestKey{1} << (std::numeric_limits<RequestKey>::digits - 1);
};

/// Messages that a probe matched and that are yet to be received: where they came.
using MatchedMessages = std::unordered_map<MPI_Message, std::shared_ptr<const Communicator>>;

}  // namespace tare::profile
