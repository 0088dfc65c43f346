// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "stopwatch/launch.hpp"
#include "stopwatch/options.hpp"

namespace tare::stopwatch {

/// The measured command, from its start to the death of its last descendant.
///
/// It ends by itself, or in steps: SIGTERM to its process group, SIGKILL after the grace, given up on after
/// that.
class Command {
  public:
    /// Opens the command's files; throws `std::system_error`.
    explicit Command(const Options& options)
        : launch_{options}, limit_{options.limit}, grace_{options.grace} {}

    /// Starts it; when that fails it has ended, with the reason as error.
    void start();
    /// Asks it to end; harmless when it has ended, or has been asked before.
    void terminate();
    /// Reaps what died; `now_ns` is the end if the command is among them.
    void reap(std::int64_t now_ns);
    /// Takes the next step towards its end if one is due.
    void keep_time(std::int64_t now_ns);

    [[nodiscard]] bool running() const { return phase_ != Phase::idle && phase_ != Phase::ended; }
    [[nodiscard]] bool ended() const { return phase_ == Phase::ended; }
    /// When `keep_time` has something to do; nothing: never.
    [[nodiscard]] std::optional<std::int64_t> deadline_ns() const { return deadline_ns_; }
    /// The exchange with a command that works in turns; null: it reads nothing.
    [[nodiscard]] Turns* turns() { return launch_.turns(); }
    [[nodiscard]] const Restrictions& restrictions() const { return launch_.restrictions(); }
    /// What became of it, as one JSON object.
    [[nodiscard]] std::string report() const;

  private:
    enum class Phase : std::uint8_t { idle, running, terminating, killing, ended };

    void collect();
    void end(std::int64_t now_ns);
    void kill_group();
    void give_up(std::int64_t now_ns);

    Launch launch_;
    std::optional<Seconds> limit_;
    Seconds grace_;
    Phase phase_ = Phase::idle;
    pid_t process_ = -1;
    std::int64_t start_ns_ = 0;
    std::optional<std::int64_t> executed_ns_;
    std::int64_t end_ns_ = 0;
    std::optional<std::int64_t> deadline_ns_;
    std::optional<rusage> usage_;
    std::optional<int> wait_status_;
    std::optional<std::string> error_;
    bool timed_out_ = false;
    int leftover_processes_ = 0;
};

}  // namespace tare::stopwatch
