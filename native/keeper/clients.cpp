// SPDX-License-Identifier: Apache-2.0
#include "keeper/clients.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tare::keeper {

/// Stream 0 is the channel's own.
std::uint32_t Clients::free_stream() {
    do {
        ++last_stream_;
    } while (last_stream_ == 0 || clients_.contains(last_stream_));
    return last_stream_;
}

void Clients::add(FileDescriptor connection) {
    const bool welcome = clients_.size() < channel::most_streams;
    const auto stream = free_stream();
    clients_.try_emplace(stream, std::move(connection), stream, welcome);
}

void Clients::fill(std::vector<pollfd>& polled) const {
    for (const auto& [stream, client] : clients_) {
        polled.resize(polled.size() + Client::polled_files);
        client.fill(std::span{polled}.last<Client::polled_files>(), *line_);
    }
}

void Clients::serve(std::span<const pollfd> polled) {
    const auto first = clients_.lower_bound(turn_);
    const auto before = static_cast<std::size_t>(std::distance(clients_.begin(), first));
    serve_some(first, clients_.end(), polled.subspan(std::min(before * Client::polled_files, polled.size())));
    serve_some(clients_.begin(), first, polled);
}

/// Each with its own part of `polled`, as far as that goes.
void Clients::serve_some(Map::iterator first, Map::iterator last, std::span<const pollfd> polled) {
    for (; first != last && !polled.empty(); ++first) {
        const auto before = line_->queued();
        first->second.serve(polled.first<Client::polled_files>(), *line_);
        if (line_->queued() > before) {
            turn_ = first->first + 1;
        }
        polled = polled.subspan(Client::polled_files);
    }
}

void Clients::take(const channel::Frame& frame) {
    const auto found = clients_.find(frame.stream);
    if (found == clients_.end()) {
        throw channel::ProtocolError("the guest speaks of a command that does not run");
    }
    found->second.take(frame, *line_);
}

void Clients::remove_finished() {
    const auto now = Clock::now();
    std::erase_if(clients_, [now](const auto& entry) {
        const auto deadline = entry.second.request_deadline();
        return entry.second.finished() || (deadline && *deadline <= now);
    });
}

std::optional<Clock::time_point> Clients::next_deadline() const {
    std::optional<Clock::time_point> next;
    for (const auto& [stream, client] : clients_) {
        const auto deadline = client.request_deadline();
        if (deadline) {
            next = next ? std::min(*next, *deadline) : *deadline;
        }
    }
    return next;
}

void Clients::dismiss(const std::string& reason) {
    for (auto& [stream, client] : clients_) {
        client.refuse(guest_gone, reason);
    }
    clients_.clear();
}

}  // namespace tare::keeper
