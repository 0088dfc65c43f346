// SPDX-License-Identifier: Apache-2.0
// The file of a rank's trace while it is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/file_descriptor.hpp"
#include "profile/library/clock.hpp"
#include "profile/library/communicators.hpp"
#include "profile/trace_record.hpp"

namespace tare::profile {

struct RankRecord;

/// What the collective call now being counted sends to or receives from each member, if it names that one by
/// one.
class Parts {
  public:
    void begin() {
        bytes_.clear();
        sent_ = 0;
    }
    void note(std::uint64_t byte) { bytes_.push_back(byte); }
    /// Those noted from here on are received.
    void end_sent() { sent_ = bytes_.size(); }

    [[nodiscard]] bool empty() const { return bytes_.empty(); }
    [[nodiscard]] std::span<const std::uint64_t> sent() const { return std::span{bytes_}.first(sent_); }
    [[nodiscard]] std::span<const std::uint64_t> received() const { return std::span{bytes_}.subspan(sent_); }

  private:
    std::vector<std::uint64_t> bytes_;
    std::size_t sent_ = 0;
};

class Trace {
  public:
    /// Begins the file. Throws `std::system_error` if it cannot be made.
    Trace(const std::string& path, const RankRecord& rank, const Clock& clock);

    void add(const TraceRecord& record);
    /// Once for each communicator.
    void describe(const Communicator& communicator);
    /// Of the collective call that is added next.
    void add_parts();
    [[nodiscard]] std::uint32_t next_request() { return ++requests_; }
    [[nodiscard]] std::uint32_t last_request() const { return requests_; }
    /// What is not a receive has begun. MPI may give the same handle to several that were done at once.
    void begin(std::uint64_t request, std::uint32_t number) { begun_.emplace(request, number); }
    /// The number of one that began with this handle; 0: none did.
    [[nodiscard]] std::uint32_t end(std::uint64_t request);
    /// `last` is the record that tells of the clock.
    void close(const TraceRecord& last);

    [[nodiscard]] Parts& parts() { return parts_; }

  private:
    void flush();
    void write_buffer();
    void cut(const std::string& why);

    static constexpr std::size_t buffered = 1024;

    FileDescriptor file_;
    std::string path_;
    int rank_;
    const Clock* clock_;
    std::vector<TraceRecord> buffer_;
    std::set<std::uint64_t> described_;
    std::unordered_multimap<std::uint64_t, std::uint32_t> begun_;
    Parts parts_;
    std::uint64_t room_byte_;
    std::uint64_t limit_byte_;
    std::uint32_t requests_ = 0;
    bool is_cut_ = false;
};

[[nodiscard]] bool asks_for_trace();

/// The trace that TARE_TRACE asks for, of the run whose name's ending is `suffix`; null: none is asked for,
/// or it cannot be made, which is said.
[[nodiscard]] std::unique_ptr<Trace> asked_trace(const std::string& suffix, const RankRecord& rank,
                                                 const Clock& clock);

}  // namespace tare::profile
