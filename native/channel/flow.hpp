// SPDX-License-Identifier: Apache-2.0
// The two ends of a flow of bytes, such as the standard output of a command: a Source where they come from a
// descriptor, a Sink where they go to one. Host and guest use both.
//
// A window limits what is under way: a Source sends no more than it has credit for, a Sink gives credit for
// what it passed on. So a slow reader holds up its own flow alone, and a Sink holds at most `window_size`.
// Poll only descriptors that want something: a hung-up pipe is reported even when nothing was asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "channel/byte_queue.hpp"
#include "channel/frame.hpp"
#include "channel/line.hpp"
#include "common/file_descriptor.hpp"

namespace tare::channel {

struct FlowName {
    std::uint32_t stream = 0;
    Flow flow{};
};

/// The descriptor in a form of its own that does not block, where the kernel allows: the given one may be
/// shared with programs that want it to block. A descriptor that cannot be opened anew stays as it is.
[[nodiscard]] FileDescriptor without_blocking(FileDescriptor given);

class Source {
  public:
    /// Nothing but this may read the descriptor.
    Source(FileDescriptor from, FlowName name) : from_{std::move(from)}, name_{name} {}

    /// One whose file others read too: `given` is polled, and read by what is made of it `without_blocking`.
    /// A FIFO that was opened anew after its writers had gone would never tell of its end (fifo(7)).
    static Source of_shared(FileDescriptor given, FlowName name);

    /// What to poll.
    [[nodiscard]] int number() const { return watched_ ? watched_.number() : from_.number(); }

    /// Whether to poll for POLLIN.
    [[nodiscard]] bool wants_to_read(const Line& line) const;

    /// Sends what can be read at once, if anything can. For use outside of a round of poll.
    void read_what_is_there(Line& line);

    /// Reads once, at most a chunk, and sends it. The end of the file sends the flow's end: `end_of_input`,
    /// or an empty frame of an output.
    void read_some(Line& line);

    /// Throws ProtocolError when the credit would exceed the window.
    void add_credit(std::uint32_t count);

    /// Ends the flow behind the bytes that can be read now, whoever still holds the other end open.
    void end_behind_what_is_there(Line& line);

    /// Ends it here, and sends nothing more.
    void close();

    /// Nothing more comes from here: its end was sent, or it was closed.
    [[nodiscard]] bool ended() const { return !from_; }

  private:
    void send_end(Line& line);

    FileDescriptor from_;
    FileDescriptor watched_;  // instead of it
    FlowName name_;
    std::size_t credit_ = window_size;
    std::size_t left_ = SIZE_MAX;  // bytes until the end, once that is decided
};

class Sink {
  public:
    Sink(FileDescriptor into, FlowName name) : into_{std::move(into)}, name_{name} {}

    [[nodiscard]] int number() const { return into_.number(); }

    /// Whether to poll for POLLOUT.
    [[nodiscard]] bool wants_to_write() const { return static_cast<bool>(into_) && !pending_.empty(); }

    /// Takes what a data frame holds and passes on what goes at once. Throws ProtocolError for more than the
    /// window, and for bytes after the end.
    void take(std::string_view bytes, Line& line);

    /// Passes on what the descriptor takes now, and gives credit for it.
    void write_some(Line& line);

    /// No more will come. The descriptor is closed as soon as all was passed on.
    void end();

    /// Drops what waits, closes the descriptor, and swallows what still comes.
    void close();

    /// All was passed on (or dropped) and no more comes.
    [[nodiscard]] bool ended() const { return ended_ && pending_.empty(); }

    /// Whoever read the descriptor has gone. What comes is swallowed, with credit.
    [[nodiscard]] bool reader_left() const { return reader_left_; }

    [[nodiscard]] std::size_t pending_byte() const { return pending_.size(); }

  private:
    void pass_on(std::size_t count, Line& line);
    void close_if_ended();

    FileDescriptor into_;
    FlowName name_;
    ByteQueue pending_;
    std::size_t owed_ = 0;  // passed on, not credited yet
    bool ended_ = false;
    bool reader_left_ = false;
};

}  // namespace tare::channel
