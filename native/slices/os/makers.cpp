// SPDX-License-Identifier: Apache-2.0
#include "slices/os/makers.hpp"

#include "slices/os/operations.hpp"

namespace tare::slices {

Makers os_makers(const std::string& program) {
    return {
        {"fork-exit", make_fork_exit},
        {"fork-exec", [program] { return make_fork_exec(program); }},
        {"fork-shell", [program] { return make_fork_shell(program); }},
        {"context-switch",
         {2, [](const Parameters& ring) { return make_context_switch(ring.front(), ring.back()); }}},
        {"pipe", make_pipe_round_trip},
        {"unix-socket", make_unix_round_trip},
        {"tcp", make_tcp_round_trip},
        {"futex", make_futex_round_trip},
        {"thread", make_thread_start},
        {"filtered-calls", make_filtered_calls},
        {"open-close", make_open_close},
        {"clock", make_clock},
        {"sleep", make_sleep},
        {"signal-install", make_signal_install},
        {"signal-deliver", make_signal_deliver},
        {"page-fault", make_page_fault},
        {"huge-page-fault", make_huge_page_fault},
        {"mmap", make_mapping},
        {"file-create", {1, [](const Parameters& size) { return make_file_create(size.front()); }}},
        {"file-delete", {1, [](const Parameters& size) { return make_file_delete(size.front()); }}},
    };
}

}  // namespace tare::slices
