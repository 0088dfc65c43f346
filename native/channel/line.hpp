// SPDX-License-Identifier: Apache-2.0
// One descriptor that frames cross both ways: a virtio port, a serial line, a socket. It never blocks.
//
// Who uses it has SIGPIPE blocked or ignored, and polls: POLLIN always, POLLOUT while it `wants_to_write`.
// Bytes in its queue are bounded: data is queued only while it `has_room` (a Source sees to that itself; who
// passes on requests of others, such as `execute`, asks first); answers always may be queued, and are few.
#pragma once

#include <cstddef>
#include <vector>

#include "channel/byte_queue.hpp"
#include "channel/frame.hpp"
#include "common/file_descriptor.hpp"

namespace tare::channel {

/// Data is queued while less than this waits to be written.
constexpr std::size_t most_queued_data = 4 * (header_size + chunk_size);
/// Where a byte takes 10 us, as on an emulated serial line: whatever comes behind waits for all of this.
constexpr std::size_t slow_chunk_size = std::size_t{2} << 10U;
constexpr std::size_t slow_most_queued_data = 2 * (header_size + slow_chunk_size);
/// No honest end leaves so much unread.
constexpr std::size_t most_queued = std::size_t{4} << 20U;

struct Received {
    std::vector<Frame> frames;
    bool ended = false;  ///< The other end closed the line, after these frames.
};

class Line {
  public:
    /// Makes the descriptor nonblocking; throws std::system_error when that fails.
    explicit Line(FileDescriptor descriptor, Decoder decoder = Decoder{});

    [[nodiscard]] int number() const { return descriptor_.number(); }

    /// Reads once. Throws ProtocolError for what is no frame, and for an end within a frame.
    [[nodiscard]] Received read_some();

    /// Queues a frame; `write_some` writes it. Throws ProtocolError when the other end has left
    /// `most_queued` unread. What is sent after the other end closed the line is dropped.
    void send(const Frame& frame);

    /// From now on little waits here and, where this is a socket, in its buffer.
    void slow_down();
    [[nodiscard]] bool slow() const { return slow_; }

    /// The most bytes of a flow that one frame may carry.
    [[nodiscard]] std::size_t chunk() const { return slow_ ? slow_chunk_size : chunk_size; }

    [[nodiscard]] bool has_room() const {
        return queued() < (slow_ ? slow_most_queued_data : most_queued_data);
    }
    [[nodiscard]] bool wants_to_write() const { return !queue_.empty(); }
    [[nodiscard]] std::size_t queued() const { return queue_.size(); }

    /// Writes what the descriptor takes now. May be called at any time, such as at the end of each round of
    /// a poll loop: that spares a round for each answer.
    void write_some();

  private:
    FileDescriptor descriptor_;
    Decoder decoder_;
    ByteQueue queue_;
    bool closed_ = false;
    bool slow_ = false;
};

}  // namespace tare::channel
