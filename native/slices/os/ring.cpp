// SPDX-License-Identifier: Apache-2.0
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "slices/os/operations.hpp"
#include "slices/os/partner.hpp"

namespace tare::slices {

namespace {

/// What goes round: who takes it makes one hop of `hops_left`, and adds 1 and the sum of its working set.
struct Token {
    std::uint64_t hops_left = 0;
    std::uint64_t sum = 0;
};

/// A prime number of values, which no power of two divides.
void fill(std::span<std::uint32_t> words) {
    constexpr std::size_t values = 251;
    for (std::size_t place = 0; place < words.size(); ++place) {
        words[place] = static_cast<std::uint32_t>(place % values);
    }
}

std::uint64_t sum_of(std::span<const std::uint32_t> words) {
    return std::accumulate(words.begin(), words.end(), std::uint64_t{0});
}

/// What one hop adds.
std::uint64_t hop_sum(std::size_t words) {
    std::vector<std::uint32_t> set(words);
    fill(set);
    return 1 + sum_of(set);
}

struct Member {
    FileDescriptor from;
    FileDescriptor next;
    FileDescriptor home;
};

void pass_on(const Member& member, std::size_t words) {
    std::vector<std::uint32_t> set(words);
    fill(set);
    Token token;
    while (receive(member.from, std::as_writable_bytes(std::span{&token, 1}))) {
        token.sum += 1 + sum_of(set);
        --token.hops_left;
        send(token.hops_left == 0 ? member.home : member.next, std::as_bytes(std::span{&token, 1}));
    }
}

class Ring final : public Piece {
  public:
    Ring(std::size_t members, std::size_t words)
        : words_{words}, hop_sum_{hop_sum(words)}, home_{make_pipe()}, pipes_(members) {
        std::ranges::generate(pipes_, make_pipe);
        const OnOneProcessor same;
        partners_.reserve(members);
        for (std::size_t place = 0; place < members; ++place) {
            partners_.emplace_back([this, place] { serve(place); });
        }
        home_.in = FileDescriptor{};
        pipes_.erase(pipes_.begin() + 1, pipes_.end());
    }

    void prepare(std::uint64_t /*count*/) override { same_.emplace(); }
    void finish() override { same_.reset(); }

    void work(std::uint64_t count) override {
        Token token{.hops_left = count};
        send(pipes_.front().in, std::as_bytes(std::span{&token, 1}));
        await_home();
        if (!receive(home_.out, std::as_writable_bytes(std::span{&token, 1})) || token.hops_left != 0 ||
            token.sum != count * hop_sum_) {
            throw std::runtime_error("the token did not come round the ring as it should");
        }
        sum_ = token.sum;
    }

    [[nodiscard]] std::uint64_t checksum() const override { return sum_; }

    [[nodiscard]] std::int64_t partners_cpu_ns() const override {
        return std::accumulate(
            partners_.begin(), partners_.end(), std::int64_t{0},
            [](std::int64_t sum, const Partner& partner) { return sum + partner.cpu_ns(); });
    }

  private:
    /// In a member's own process: it holds no end but its own, so that the ring ends when one member does.
    void serve(std::size_t place) {
        const Member member{.from = std::move(pipes_[place].out),
                            .next = std::move(pipes_[(place + 1) % pipes_.size()].in),
                            .home = std::move(home_.in)};
        pipes_.clear();
        home_.out = FileDescriptor{};
        pass_on(member, words_);
    }

    /// One call for each slice: the ring may have lost a member, and others hold the way home open.
    void await_home() const {
        constexpr std::chrono::milliseconds glance = std::chrono::seconds{1};
        pollfd waited{.fd = home_.out.number(), .events = POLLIN, .revents = 0};
        while (::poll(&waited, 1, static_cast<int>(glance.count())) < 1) {
            std::ranges::for_each(partners_, &Partner::require_alive);
        }
    }

    std::size_t words_;
    std::uint64_t hop_sum_;
    Pipe home_;
    std::vector<Pipe> pipes_;
    std::vector<Partner> partners_;
    std::optional<OnOneProcessor> same_;
    std::uint64_t sum_ = 0;
};

}  // namespace

std::unique_ptr<Piece> make_context_switch(std::uint64_t ring, std::uint64_t working_set_byte) {
    if (ring == 0 || ring > most_ring || working_set_byte > most_working_set_byte) {
        throw std::invalid_argument("context-switch has 1 to " + std::to_string(most_ring) +
                                    " processes and 0 to " + std::to_string(most_working_set_byte) + " byte");
    }
    return std::make_unique<Ring>(ring, working_set_byte / sizeof(std::uint32_t));
}

}  // namespace tare::slices
