// SPDX-License-Identifier: Apache-2.0
#include "guest/server.hpp"

#include <sched.h>
#include <sys/signalfd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <span>
#include <string>
#include <system_error>
#include <utility>

namespace tare::guest {

using channel::Frame;
using channel::ProtocolError;
using channel::Type;

namespace {

constexpr std::chrono::seconds hello_interval{1};
constexpr std::chrono::milliseconds no_limit{-1};
constexpr std::size_t line_place = 0;
constexpr std::size_t deaths_place = 1;
constexpr std::size_t first_job_place = 2;

/// Waits until a descriptor has what was asked for, or has hung up.
void wait_for_any(std::span<pollfd> polled, std::chrono::milliseconds limit) {
    if (::poll(polled.data(), polled.size(), static_cast<int>(limit.count())) < 0 && errno != EINTR) {
        throw std::system_error(errno, std::generic_category(), "cannot wait for the channel");
    }
    const auto jobs = polled.subspan(first_job_place);
    const auto hung_up = [](const pollfd& entry) { return entry.revents == POLLHUP; };
    if (polled[deaths_place].revents == 0 && std::any_of(jobs.begin(), jobs.end(), hung_up)) {
        // A command that ends closes its files one by one, and is dead a moment later: with one processor, to
        // let it go on makes one round of three, and wakes the host once.
        ::sched_yield();
        ::poll(polled.data(), polled.size(), 0);
    }
}

/// Forgets which deaths were told: reaping asks for all.
void drain(int deaths) {
    signalfd_siginfo ignored{};
    while (::read(deaths, &ignored, sizeof ignored) > 0) {
    }
}

}  // namespace

Server::End Server::serve(int deaths) {
    say_hello();
    while (serve_once(deaths, heard_ ? no_limit : hello_interval)) {
        if (!heard_ && !line_.wants_to_write()) {
            say_hello();
        }
    }
    return host_left_ ? End::host_left : End::power_off;
}

void Server::say_hello() {
    utsname system{};
    ::uname(&system);
    const std::array words{std::string{channel::protocol_version},
                           std::string{static_cast<const char*>(system.release)},
                           std::string{line_.slow() ? channel::slow_pace : channel::quick_pace}};
    line_.send({.type = Type::hello, .stream = 0, .payload = channel::encode_words(words)});
    line_.write_some();
}

bool Server::serve_once(int deaths, std::chrono::milliseconds limit) {
    const auto jobs = in_turn();
    auto polled = wishes(jobs, deaths);
    wait_for_any(polled, limit);
    move(jobs, std::span{polled}.subspan(first_job_place));
    if (polled[deaths_place].revents != 0) {
        drain(deaths);
        reap();
    }
    const bool goes_on = (polled[line_place].revents & ~POLLOUT) == 0 || read_line();
    end_jobs();
    line_.write_some();
    return goes_on;
}

Server::Turn Server::in_turn() {
    Turn jobs;
    jobs.reserve(jobs_.size());
    const auto first = jobs_.lower_bound(turn_);
    for (auto entry = first; entry != jobs_.end(); ++entry) {
        jobs.push_back(&*entry);
    }
    for (auto entry = jobs_.begin(); entry != first; ++entry) {
        jobs.push_back(&*entry);
    }
    return jobs;
}

std::vector<pollfd> Server::wishes(const Turn& jobs, int deaths) const {
    const short line_events = line_.wants_to_write() ? POLLIN | POLLOUT : POLLIN;
    std::vector<pollfd> polled{{.fd = line_.number(), .events = line_events, .revents = 0},
                               {.fd = deaths, .events = POLLIN, .revents = 0}};
    for (const auto* const entry : jobs) {
        const auto wishes = entry->second.wishes(line_);
        polled.insert(polled.end(), wishes.begin(), wishes.end());
    }
    return polled;
}

void Server::move(const Turn& jobs, std::span<const pollfd> polled) {
    for (auto* const entry : jobs) {
        if (entry->second.move(polled.first<Job::descriptors>(), line_)) {
            turn_ = entry->first + 1;
        }
        polled = polled.subspan(Job::descriptors);
    }
}

bool Server::read_line() {
    const auto received = line_.read_some();
    host_left_ = received.ended;
    heard_ = heard_ || !received.frames.empty();
    return std::all_of(received.frames.begin(), received.frames.end(),
                       [this](const Frame& frame) { return obey(frame); }) &&
           !host_left_;
}

bool Server::obey(const Frame& frame) {
    if (frame.type == Type::power_off || frame.type == Type::set_clock) {
        return obey_system(frame);
    }
    if (frame.type == Type::execute) {
        execute(frame);
        return true;
    }
    if (frame.type == Type::hello || frame.type == Type::exit || frame.type == Type::output ||
        frame.type == Type::error_output) {
        throw ProtocolError("the host sent what only a guest sends");
    }
    const auto found = jobs_.find(frame.stream);
    if (found != jobs_.end()) {  // what its end crossed on the way is no fault
        tell(found->second, frame);
    }
    return true;
}

bool Server::obey_system(const Frame& frame) {
    if (frame.type == Type::power_off) {
        return false;
    }
    commands_.set_clock(channel::decode_time(frame.payload));
    return true;
}

void Server::execute(const Frame& frame) {
    if (jobs_.contains(frame.stream)) {
        throw ProtocolError("a stream began that was there already");
    }
    if (jobs_.size() >= channel::most_streams) {
        throw ProtocolError("there are more streams than may be");
    }
    const auto command = channel::decode_execute(frame.payload);
    try {
        jobs_.try_emplace(frame.stream, frame.stream, commands_.start(command));
    } catch (const std::system_error& failure) {
        send_exit(frame.stream, {.how = channel::Exit::How::failed, .number = 0, .text = failure.what()});
    }
}

void Server::tell(Job& job, const Frame& frame) {
    switch (frame.type) {
        case Type::input:
            job.take_input(frame.payload, line_);
            break;
        case Type::end_of_input:
            job.end_input();
            break;
        case Type::credit:
            job.add_credit(channel::decode_credit(frame.payload));
            break;
        case Type::signal:
            signal(job, channel::decode_number(frame.payload));
            break;
        default:
            hang_up(job);
            break;
    }
}

void Server::signal(const Job& job, std::uint32_t number) {
    if (number == 0 || number > static_cast<std::uint32_t>(SIGRTMAX)) {
        throw ProtocolError("there is no such signal");
    }
    if (job.running()) {  // its number may be another's by now
        commands_.signal(job.process(), static_cast<int>(number));
    }
}

void Server::hang_up(Job& job) {
    job.abandon();
    // The number of a supervisor that ended may be another's by now; a group stays what it is.
    if (job.running() || job.process().group) {
        commands_.kill_all(job.process());
    }
}

void Server::reap() {
    for (const Ended& ended : commands_.reap()) {
        const auto found = std::find_if(jobs_.begin(), jobs_.end(), [&](const Jobs::value_type& entry) {
            return entry.second.running() && entry.second.process().id == ended.id;
        });
        if (found != jobs_.end()) {
            found->second.ended(ended.status, line_);
        }
    }
}

void Server::end_jobs() {
    bool any = false;
    for (const auto& [stream, job] : jobs_) {
        if (job.over()) {
            send_exit(stream, job.exit());
            any = true;
        }
    }
    if (any) {
        line_.write_some();  // who waits for it need not wait for the tidying up
        forget_ended();
    }
}

void Server::forget_ended() {
    for (auto entry = jobs_.begin(); entry != jobs_.end();) {
        if (entry->second.over()) {
            commands_.forget(entry->second.release());
            entry = jobs_.erase(entry);
        } else {
            ++entry;
        }
    }
}

void Server::send_exit(std::uint32_t stream, const channel::Exit& exit) {
    line_.send({.type = Type::exit, .stream = stream, .payload = channel::encode_exit(exit)});
}

void Server::end_all(int deaths, std::chrono::milliseconds limit) {
    for (auto& [stream, job] : jobs_) {
        hang_up(job);
    }
    const auto last = std::chrono::steady_clock::now() + limit;
    while (!jobs_.empty() && std::chrono::steady_clock::now() < last) {
        pollfd polled{.fd = deaths, .events = POLLIN, .revents = 0};
        ::poll(&polled, 1, static_cast<int>(limit.count()));
        drain(deaths);
        reap();
        end_jobs();
    }
}

std::size_t Server::held_byte() const {
    std::size_t held = line_.queued();
    for (const auto& [stream, job] : jobs_) {
        held += job.held_byte();
    }
    return held;
}

}  // namespace tare::guest
