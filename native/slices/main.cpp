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
#include "slices/os/makers.hpp"
#include "slices/pieces.hpp"
#include "slices/serve.hpp"

namespace {

using namespace tare::slices;

Makers makers(const Options& options, const std::string& program, Memory& memory) {
    Makers makers{{"compute", make_compute},
                  {"system-calls", make_system_calls},
                  {"process-start", [program] { return make_process_start(program); }}};
    makers.merge(memory_makers(memory, options.memory_mib));
    makers.merge(os_makers(program));
    return makers;
}

Taken slice(Piece& piece, std::uint64_t count, const WaitedTime& waited) {
    piece.prepare(count);
    const std::int64_t partners_ns = piece.partners_cpu_ns();
    const Meters meters{waited};
    piece.work(count);
    Taken taken = meters.taken();
    taken.cpu_ns += piece.partners_cpu_ns() - partners_ns;
    taken.checksum = piece.checksum();
    piece.finish();
    return taken;
}

void run(std::span<char* const> arguments) {
    const Options options = parse_options(arguments.subspan(1));
    const WaitedTime waited;
    Memory memory{options.placement};
    Pieces pieces{makers(options, arguments.front(), memory)};
    serve(options, [&](const Turn& turn) {
        Piece& piece = pieces.use(turn.piece);
        const std::uint64_t warming = warming_units(turn.count);
        piece.prepare(warming);
        piece.work(warming);
        piece.finish();
        return slice(piece, turn.count, waited);
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
