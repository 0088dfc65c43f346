// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "slices/meters.hpp"
#include "slices/options.hpp"
#include "slices/piece.hpp"

namespace tare::slices {

/// The last line of `--once`: without it the output is cut.
constexpr std::string_view last_line = "end of slices";

/// Does one turn.
using DoTurn = std::function<Taken(const Turn&)>;

/// The pieces of a program that were used so far.
class Pieces {
  public:
    explicit Pieces(Makers makers) : makers_{std::move(makers)} {}

    /// The piece `NAME`, or `NAME:NUMBER...` with parameters. Made at its first use; throws
    /// `std::invalid_argument` for one that is not known.
    [[nodiscard]] Piece& use(const std::string& name);

    /// Has each piece that was used check its work; throws `std::exception`.
    void verify();

  private:
    Makers makers_;
    std::map<std::string, std::unique_ptr<Piece>, std::less<>> used_;
};

/// The next line of standard input; nothing at its end. It sleeps while there is none (read(2)).
[[nodiscard]] std::optional<std::string> read_line();

/// Does what the options ask for: turns from standard input, each answered by a line, until its end; or those
/// of
/// `--once` round by round, each line with its turn before the answer.
void serve(const Options& options, const DoTurn& do_turn);

}  // namespace tare::slices
