// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "common/processors.hpp"
#include "slices/os/makers.hpp"
#include "slices/os/operations.hpp"
#include "slices/os/partner.hpp"
#include "slices/serve.hpp"

namespace {

using namespace tare::slices;

std::uint64_t done(Piece& piece, std::uint64_t count) {
    piece.prepare(count);
    piece.work(count);
    const std::uint64_t checksum = piece.checksum();
    piece.finish();
    return checksum;
}

/// Its end of input, when all others of the pipe are gone.
bool ends_soon(const Pipe& pipe) {
    std::array<std::byte, 1> byte{};
    return !receive(pipe.out, byte);
}

TEST_CASE("each hop round a ring adds 1 and the sum of a working set") {
    const std::uint64_t page_sum = [] {
        std::uint64_t sum = 0;
        for (std::uint64_t word = 0; word < 1024; ++word) {
            sum += word % 251;
        }
        return sum;
    }();
    for (const std::uint64_t ring : {1, 2, 5}) {
        CAPTURE(ring);
        CHECK(done(*make_context_switch(ring, 0), 7) == 7);
        CHECK(done(*make_context_switch(ring, 4096), 7) == 7 * (1 + page_sum));
    }
    CHECK_THROWS_AS(static_cast<void>(make_context_switch(0, 0)), std::invalid_argument);
    CHECK_THROWS_AS(static_cast<void>(make_context_switch(97, 0)), std::invalid_argument);
    CHECK_THROWS_AS(static_cast<void>(make_context_switch(2, 65537)), std::invalid_argument);
}

TEST_CASE("the CPU time of a ring's processes counts") {
    const auto ring = make_context_switch(2, 65536);
    const std::int64_t before = ring->partners_cpu_ns();
    done(*ring, 200);
    CHECK(ring->partners_cpu_ns() - before > 200 * 1000);
}

TEST_CASE("a partner ends when its owner goes") {
    Pipe pipe = make_pipe();
    {
        const Partner partner{[] { ::pause(); }};
        pipe.in = tare::FileDescriptor{};
        CHECK_NOTHROW(partner.require_alive());
        CHECK(partner.cpu_ns() >= 0);
    }
    CHECK(ends_soon(pipe));
    CHECK(::waitpid(-1, nullptr, WNOHANG) < 0);
    CHECK(errno == ECHILD);
}

TEST_CASE("a partner ends when its owner is killed") {
    Pipe pipe = make_pipe();
    const pid_t owner = ::fork();
    if (owner == 0) {
        const Partner partner{[] { ::pause(); }};
        ::raise(SIGKILL);
    }
    pipe.in = tare::FileDescriptor{};
    CHECK(ends_soon(pipe));
    CHECK(::waitpid(owner, nullptr, 0) == owner);
}

TEST_CASE("a partner that has ended before its time is noticed") {
    const Partner partner{[] {}};
    siginfo_t ended{};
    CHECK(::waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT) == 0);
    CHECK_THROWS_AS(partner.require_alive(), std::runtime_error);
}

TEST_CASE("work on one processor leaves the choice as it was") {
    const auto before = tare::ProcessorSet::of_caller();
    {
        const OnOneProcessor same;
        CHECK(tare::ProcessorSet::of_caller() == std::vector{before.back()});
    }
    CHECK(tare::ProcessorSet::of_caller() == before);
}

TEST_CASE("files come and go, and their folder with the piece") {
    const auto folders = [] {
        int count = 0;
        for (const auto& entry : std::filesystem::directory_iterator{"."}) {
            count += entry.path().filename().string().starts_with("os-files-") ? 1 : 0;
        }
        return count;
    };
    const auto before = folders();
    {
        const auto create = make_file_create(10240);
        const auto remove = make_file_delete(0);
        CHECK(folders() == before + 2);
        CHECK(done(*create, 3) == 3);
        CHECK(done(*create, 2) == 2);
        CHECK(done(*remove, 4) == 4);
    }
    CHECK(folders() == before);
    CHECK_THROWS_AS(static_cast<void>(make_file_create(std::uint64_t{2} << 20U)), std::invalid_argument);
}

TEST_CASE("a program that is not there is no start") {
    CHECK_THROWS_AS(done(*make_fork_exec("/no/such/program"), 1), std::runtime_error);
    CHECK_THROWS_AS(done(*make_fork_shell("/no/such/program"), 1), std::runtime_error);
}

TEST_CASE("a piece with parameters needs as many numbers behind its name") {
    Pieces pieces{os_makers("slices")};
    CHECK(done(pieces.use("context-switch:2:4096"), 3) > 3);
    for (const char* const wrong :
         {"context-switch", "context-switch:2", "context-switch:2:0:0", "context-switch:2:x",
          "context-switch:2:", "clock:1", "file-create", "sort"}) {
        CAPTURE(wrong);
        CHECK_THROWS_AS(static_cast<void>(pieces.use(wrong)), std::invalid_argument);
    }
}

}  // namespace
