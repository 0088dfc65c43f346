// SPDX-License-Identifier: Apache-2.0
#include <spawn.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <utility>

#include "common/system.hpp"
#include "slices/pieces.hpp"

namespace tare::slices {

namespace {

class ProcessStart final : public Piece {
  public:
    explicit ProcessStart(std::string program) : program_{std::move(program)} {}

    void work(std::uint64_t count) override {
        constexpr std::uint64_t kept_bits = 0xFFFF;
        for (std::uint64_t unit = 0; unit < count; ++unit) {
            start_and_wait();
        }
        started_ = count & kept_bits;
    }

    [[nodiscard]] std::uint64_t checksum() const override { return started_; }

  private:
    void start_and_wait() {
        const std::array<char*, 3> words{program_.data(), exit_word_.data(), nullptr};
        std::array<char*, 1> no_variables{nullptr};
        pid_t child = -1;
        const int refused =
            ::posix_spawn(&child, program_.c_str(), nullptr, nullptr, words.data(), no_variables.data());
        if (refused != 0) {
            throw std::runtime_error("cannot start '" + program_ + "': " + error_text(refused));
        }
        int status = 0;
        while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        if (status != 0) {
            throw std::runtime_error("'" + program_ + " --exit' did not end well");
        }
    }

    std::string program_;
    std::string exit_word_ = "--exit";
    std::uint64_t started_ = 0;
};

}  // namespace

std::unique_ptr<Piece> make_process_start(std::string program) {
    return std::make_unique<ProcessStart>(std::move(program));
}

}  // namespace tare::slices
