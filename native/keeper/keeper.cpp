// SPDX-License-Identifier: Apache-2.0
#include "keeper/keeper.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "channel/frame.hpp"
#include "common/json.hpp"
#include "common/system.hpp"

namespace tare::keeper {

namespace {

using channel::Frame;
using channel::ProtocolError;
using channel::Type;

enum Place : std::size_t { signals_at, vmm_at, line_at, listening_at, clients_at };

constexpr std::chrono::milliseconds power_off_limit{200};
constexpr std::chrono::milliseconds vmm_patience{1000};  // from the end of its channel to its own

/// The guest, or what runs it, has ended; the text says how.
class Gone : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

std::uint64_t real_time_ns() {
    constexpr std::uint64_t nanoseconds_per_second = 1'000'000'000;
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * nanoseconds_per_second +
           static_cast<std::uint64_t>(now.tv_nsec);
}

/// Whether the guest says that its line is slow. Throws ProtocolError for what is no hello, or one of another
/// version.
bool tells_of_slow_line(const std::string& hello) {
    constexpr std::size_t number_of_words = 3;
    const auto words = channel::decode_words(hello);
    if (!words.empty() && words.front() != channel::protocol_version) {
        throw ProtocolError("the guest's init speaks version '" + words.front() + "' of the protocol, not " +
                            std::string{channel::protocol_version} +
                            "; make the image and the guest's initramfs anew");
    }
    const bool slow = !words.empty() && words.back() == channel::slow_pace;
    if (words.size() != number_of_words || (!slow && words.back() != channel::quick_pace)) {
        throw ProtocolError("the guest's hello makes no sense");
    }
    return slow;
}

/// poll(2) takes no more entries than files may be open, and counts those that ask for nothing.
void poll_open_ones(std::vector<pollfd>& polled, int timeout_ms) {
    const auto is_open = [](const pollfd& entry) { return entry.fd >= 0; };
    std::vector<pollfd> open;
    std::copy_if(polled.begin(), polled.end(), std::back_inserter(open), is_open);
    if (::poll(open.data(), open.size(), timeout_ms) < 0 && errno != EINTR) {
        throw_errno("cannot wait for guest and clients");
    }
    auto result = open.begin();
    for (pollfd& entry : polled) {
        entry.revents = is_open(entry) ? (result++)->revents : short{0};
    }
}

/// For poll(2), never too early.
int milliseconds_until(Clock::time_point time) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(time - Clock::now());
    return static_cast<int>(std::max<std::chrono::milliseconds::rep>(left.count(), 0));
}

}  // namespace

Keeper::Keeper(Parts parts, std::chrono::milliseconds ready_limit)
    : parts_{std::move(parts)}, clients_{parts_.line}, ready_limit_{ready_limit} {}

int Keeper::run() {
    constexpr std::chrono::milliseconds glance{200};
    try {
        while (!told_to_end_) {
            work_once();
        }
        return power_off();
    } catch (const Gone& gone) {
        return give_up(gone.what(), std::chrono::milliseconds{0});
    } catch (const ProtocolError& error) {
        return give_up(error.what(), glance);
    }
}

void Keeper::work_once() {
    auto polled = asked();
    poll_open_ones(polled, timeout_ms());
    told_to_end_ = polled[signals_at].revents != 0;
    if (polled[line_at].revents != 0) {
        read_line();
    }
    if (polled[vmm_at].revents != 0) {
        end_with_vmm();
    }
    clients_.serve(std::span{polled}.subspan(clients_at));
    clients_.remove_finished();
    if (polled[listening_at].revents != 0) {
        accept_client();
    }
    parts_.line.write_some();
    check_hello_in_time();
}

Keeper::Polled Keeper::asked() const {
    const auto listens = ready_ && clients_.lets_in() && accepts_from_ <= Clock::now();
    const short line_events = parts_.line.wants_to_write() ? POLLIN | POLLOUT : POLLIN;
    Polled polled(clients_at);
    polled[signals_at] = {.fd = parts_.signals.number(), .events = POLLIN, .revents = 0};
    polled[vmm_at] = {.fd = parts_.vmm ? parts_.vmm->number() : -1, .events = POLLIN, .revents = 0};
    polled[line_at] = {.fd = parts_.line.number(), .events = line_events, .revents = 0};
    polled[listening_at] = {.fd = listens ? parts_.listening.number() : -1, .events = POLLIN, .revents = 0};
    clients_.fill(polled);
    return polled;
}

int Keeper::timeout_ms() const {
    auto next = clients_.next_deadline();
    const auto consider = [&next](bool applies, Clock::time_point time) {
        if (applies) {
            next = next ? std::min(*next, time) : time;
        }
    };
    consider(!ready_, begun_ + ready_limit_);
    consider(accepts_from_ > Clock::now(), accepts_from_);
    return next ? milliseconds_until(*next) : -1;
}

void Keeper::read_line() {
    const auto received = parts_.line.read_some();
    for (const Frame& frame : received.frames) {
        take(frame);
    }
    if (received.ended) {
        throw Gone(parts_.vmm ? parts_.vmm->ended(vmm_patience).value_or("the channel closed")
                              : "the channel closed");
    }
}

void Keeper::take(const Frame& frame) {
    const bool is_hello = frame.type == Type::hello && frame.stream == 0 && may_repeat_hello_;
    if (!is_hello) {
        may_repeat_hello_ = false;
        clients_.take(frame);
        return;
    }
    if (tells_of_slow_line(frame.payload)) {
        parts_.line.slow_down();
    }
    if (!ready_) {
        greet();
    }
}

void Keeper::greet() {
    ready_ = true;
    parts_.line.send({.type = Type::set_clock, .stream = 0, .payload = channel::encode_time(real_time_ns())});
    // Nobody may be reading; the guest works without.
    static_cast<void>(write_all(STDOUT_FILENO, "READY\n", vmm_patience));
}

void Keeper::accept_client() {
    constexpr std::chrono::milliseconds pause{100};
    FileDescriptor connection{
        ::accept4(parts_.listening.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    if (connection) {
        clients_.add(std::move(connection));
    } else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
        accepts_from_ = Clock::now() + pause;  // no descriptor is left: some will be free again
    }
}

void Keeper::check_hello_in_time() const {
    if (!ready_ && Clock::now() >= begun_ + ready_limit_) {
        const std::chrono::duration<double> limit{ready_limit_};
        throw Gone("it did not say hello within " + json_number(limit.count()) + " s");
    }
}

void Keeper::end_with_vmm() {
    auto received = parts_.line.read_some();  // the guest's last words
    while (!received.frames.empty()) {
        for (const Frame& frame : received.frames) {
            take(frame);
        }
        received = parts_.line.read_some();
    }
    throw Gone(parts_.vmm->ended(vmm_patience).value_or("the channel closed"));
}

int Keeper::power_off() {
    const auto end = Clock::now() + power_off_limit;
    clients_.dismiss("the guest was told to end");
    if (ready_) {
        parts_.line.send({.type = Type::power_off, .stream = 0, .payload = {}});
    }
    bool over = !ready_;
    while (!over && Clock::now() < end) {
        parts_.line.write_some();
        const short events = parts_.line.wants_to_write() ? POLLOUT : 0;
        const int life = parts_.vmm ? parts_.vmm->number() : -1;
        std::array waited{pollfd{.fd = life, .events = POLLIN, .revents = 0},
                          pollfd{.fd = parts_.line.number(), .events = events, .revents = 0}};
        over = ::poll(waited.data(), waited.size(), milliseconds_until(end)) > 0 &&
               (waited[0].revents != 0 || (waited[1].revents & (POLLHUP | POLLERR)) != 0);
    }
    parts_.vmm.reset();
    return 0;
}

int Keeper::give_up(const std::string& what, std::chrono::milliseconds patience) {
    const auto vmm_end = parts_.vmm && patience.count() > 0 ? parts_.vmm->ended(patience) : std::nullopt;
    const std::string reason =
        std::string{ready_ ? "the guest is gone: " : "the guest is gone before it was ready: "} + what +
        (vmm_end ? "; " + *vmm_end : "");
    // Whoever learns of it looks for the reason at once, and nothing of the VMM's is to follow it.
    parts_.vmm.reset();
    complain("keeper", reason);
    clients_.dismiss(reason);
    return 1;
}

}  // namespace tare::keeper
