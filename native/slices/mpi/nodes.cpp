// SPDX-License-Identifier: Apache-2.0
#include "slices/mpi/nodes.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <thread>

#include "slices/mpi/world.hpp"

namespace tare::slices {

namespace {

constexpr int wake_tag = 1;
constexpr std::chrono::milliseconds look_every{10};

}  // namespace

Nodes::Nodes(int node_ranks) {
    const int rank = rank_in(MPI_COMM_WORLD);
    MPI_Comm shared = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &shared);
    MPI_Comm_split(shared, node_ranks == 0 ? 0 : rank / node_ranks, rank, &node_);
    MPI_Comm_free(&shared);
    MPI_Comm_split(MPI_COMM_WORLD, rank_in(node_) == 0 ? 0 : MPI_UNDEFINED, rank, &leaders_);
    share_word();
}

void Nodes::share_word() {
    const MPI_Aint size_byte = rank_in(node_) == 0 ? sizeof *word_ : 0;
    void* own = nullptr;
    MPI_Win_allocate_shared(size_byte, 1, MPI_INFO_NULL, node_, static_cast<void*>(&own), &window_);
    MPI_Aint shared_byte = 0;
    int unit_byte = 0;
    void* word = nullptr;
    MPI_Win_shared_query(window_, 0, &shared_byte, &unit_byte, static_cast<void*>(&word));
    word_ = static_cast<std::uint32_t*>(word);
    if (rank_in(node_) == 0) {
        std::atomic_ref{*word_}.store(0);
    }
    MPI_Barrier(node_);
}

Nodes::~Nodes() {
    MPI_Win_free(&window_);
    if (leaders_ != MPI_COMM_NULL) {
        MPI_Comm_free(&leaders_);
    }
    MPI_Comm_free(&node_);
}

void Nodes::wake_all() {
    for (int leader = 1; leader < size_of(leaders_); ++leader) {
        MPI_Send(nullptr, 0, MPI_BYTE, leader, wake_tag, leaders_);
    }
    wake_node();
}

void Nodes::sleep() {
    if (leaders_ == MPI_COMM_NULL) {
        sleep_in_node();
        return;
    }
    int arrived = 0;
    MPI_Iprobe(0, wake_tag, leaders_, &arrived, MPI_STATUS_IGNORE);
    while (arrived == 0) {
        std::this_thread::sleep_for(look_every);
        MPI_Iprobe(0, wake_tag, leaders_, &arrived, MPI_STATUS_IGNORE);
    }
    MPI_Recv(nullptr, 0, MPI_BYTE, 0, wake_tag, leaders_, MPI_STATUS_IGNORE);
    wake_node();
}

void Nodes::wake_node() {
    std::atomic_ref{*word_}.fetch_add(1);
    ::syscall(SYS_futex, word_, FUTEX_WAKE, std::numeric_limits<int>::max(), nullptr, nullptr, 0);
}

void Nodes::sleep_in_node() {
    const std::atomic_ref word{*word_};
    while (word.load() == seen_) {
        ::syscall(SYS_futex, word_, FUTEX_WAIT, seen_, nullptr, nullptr, 0);
    }
    ++seen_;
}

}  // namespace tare::slices
