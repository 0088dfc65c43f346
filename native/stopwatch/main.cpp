// SPDX-License-Identifier: Apache-2.0
// Measures one command inside a node, told when over its standard input.
#include <fcntl.h>
#include <unistd.h>

#include <exception>
#include <span>
#include <string>
#include <vector>

#include "common/exec.hpp"
#include "common/file_descriptor.hpp"
#include "common/json.hpp"
#include "common/system.hpp"
#include "stopwatch/command.hpp"
#include "stopwatch/options.hpp"
#include "stopwatch/session.hpp"

namespace {

using namespace tare;

constexpr std::chrono::seconds error_limit{1};

/// Whoever started us may have left files open, or left out a standard one whose number another file would
/// take.
void tidy_descriptors() {
    ::close_range(STDERR_FILENO + 1, ~0U, 0);
    int number = 0;
    while (number >= 0 && number <= STDERR_FILENO) {
        number = ::open("/dev/null", O_RDWR);
    }
    ::close(number);
}

void report_failure(const std::exception& error) {
    const std::string line = "ERROR " + JsonObject{}.add("message", error.what()).text() + '\n';
    static_cast<void>(write_all(STDOUT_FILENO, line, error_limit));
}

/// The standard files stay open, and so does the conversation over them.
int be_next(std::vector<std::string> words) {
    auto pointers = pointers_to(words);
    return become("stopwatch", std::span{pointers}.first(words.size()));
}

}  // namespace

int main(int argc, char** argv) {
    try {
        tidy_descriptors();
        const auto arguments = std::span<char* const>{argv, static_cast<std::size_t>(argc)}.subspan(1);
        stopwatch::Command command{stopwatch::parse_options(arguments)};
        stopwatch::Session session{command};
        const int exit_code = session.run();
        return session.next().empty() ? exit_code : be_next(session.next());
    } catch (const stopwatch::WrongUse& error) {
        complain("stopwatch", error.what());
    } catch (const std::exception& error) {
        report_failure(error);
    }
    return exit_wrong_use;
}
