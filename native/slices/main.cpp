// SPDX-License-Identifier: Apache-2.0
// A resident program of one process: waits for turns on standard input, does a slice of a piece of work in
// each, and answers how long that took.
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/exec.hpp"
#include "common/system.hpp"
#include "slices/memory/pieces.hpp"
#include "slices/options.hpp"
#include "slices/pieces.hpp"
#include "slices/serve.hpp"

namespace {

using namespace tare::slices;

Makers makers(const Options& options, const std::string& program, Memory& memory) {
    Makers makers{{"compute", make_compute},
                  {"system-calls", make_system_calls},
                  {"process-start", [program] { return make_process_start(program); }}};
    makers.merge(memory_makers(memory, options.memory_mib));
    return makers;
}

void run(std::span<char* const> arguments) {
    const Options options = parse_options(arguments.subspan(1));
    const WaitedTime waited;
    Memory memory{options.placement};
    Pieces pieces{makers(options, arguments.front(), memory)};
    serve(options, [&](const Turn& turn) {
        Piece& piece = pieces.use(turn.piece);
        piece.work(warming_units(turn.count));
        const Meters meters{waited};
        piece.work(turn.count);
        Taken taken = meters.taken();
        taken.checksum = piece.checksum();
        return taken;
    });
    pieces.verify();
    if (const auto evidence = memory.evidence(); !evidence.empty()) {
        tare::complain("slices", evidence);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::span<char* const> arguments{argv, static_cast<std::size_t>(argc)};
    if (arguments.size() == 2 && std::string_view{arguments[1]} == "--exit") {
        return 0;  // what `process-start` starts
    }
    try {
        run(arguments);
        return 0;
    } catch (const std::invalid_argument& error) {
        tare::complain("slices", error.what());
        return tare::exit_wrong_use;
    } catch (const std::exception& error) {
        tare::complain("slices", error.what());
        return 1;
    }
}
