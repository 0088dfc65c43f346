// SPDX-License-Identifier: Apache-2.0
#include "init/attend.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <list>
#include <utility>
#include <vector>

#include "channel/frame.hpp"
#include "common/file_descriptor.hpp"
#include "common/number.hpp"
#include "common/system.hpp"
#include "init/start.hpp"
#include "keeper/request.hpp"
#include "keeper/unix_socket.hpp"

namespace tare::init {

namespace {

using channel::Exit;

constexpr int power_off_offset =
    3;  // SIGRTMIN+3 halts a container (systemd-nspawn(1), lxc.container.conf(5))
constexpr std::chrono::seconds ready_limit{10};
constexpr std::size_t fixed_files = 2;
constexpr int full_pause_ms = 100;

/// Whoever asked for a command, and the command once it runs.
struct Client {
    FileDescriptor connection;
    pid_t process = 0;
    bool done = false;
};

sigset_t awaited_signals() {
    sigset_t awaited;
    ::sigemptyset(&awaited);
    for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGPWR, SIGRTMIN + power_off_offset}) {
        ::sigaddset(&awaited, number);
    }
    return awaited;
}

FileDescriptor signals_as_bytes() {
    const sigset_t awaited = awaited_signals();
    FileDescriptor signals{::signalfd(-1, &awaited, SFD_CLOEXEC | SFD_NONBLOCK)};
    if (!signals) {
        throw_errno("cannot wait for signals");
    }
    return signals;
}

/// Each has a descriptor, and the one that asks needs three more for a moment.
std::size_t most_clients() {
    constexpr rlim_t own = 16;
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    return files.rlim_cur > own ? static_cast<std::size_t>(files.rlim_cur - own) : 1;
}

Exit exit_of(int status) {
    return WIFSIGNALED(status) ? Exit{.how = Exit::How::signal, .number = WTERMSIG(status), .text = {}}
                               : Exit{.how = Exit::How::code, .number = WEXITSTATUS(status), .text = {}};
}

class Attendant {
  public:
    explicit Attendant(FileDescriptor listening)
        : signals_{signals_as_bytes()}, listening_{std::move(listening)} {}

    void attend() {
        reap();  // children that ended before the signals were watched
        while (!told_to_end_) {
            wait();
            clients_.remove_if([](const Client& client) { return client.done; });
        }
    }

  private:
    void wait() {
        // Where no more can be taken, whoever waits at the socket is left waiting: it would be readable
        // without end.
        const bool full = full_ || clients_.size() >= most_clients_;
        std::vector<pollfd> polled{{.fd = signals_.number(), .events = POLLIN, .revents = 0},
                                   {.fd = full ? -1 : listening_.number(), .events = POLLIN, .revents = 0}};
        for (const Client& client : clients_) {
            polled.push_back({.fd = client.connection.number(), .events = POLLIN, .revents = 0});
        }
        // Idle until something happens, however long that takes.
        ::poll(polled.data(), polled.size(), full_ ? full_pause_ms : -1);
        full_ = false;
        auto place = polled.begin() + fixed_files;
        for (Client& client : clients_) {
            if ((place++)->revents != 0) {
                hear(client);
            }
        }
        if (polled[0].revents != 0) {
            take_signals();
        }
        if (polled[1].revents != 0) {
            accept();
        }
    }

    void take_signals() {
        signalfd_siginfo info{};
        while (::read(signals_.number(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
            told_to_end_ = told_to_end_ || info.ssi_signo != SIGCHLD;
        }
        reap();
    }

    void accept() {
        FileDescriptor connection{
            ::accept4(listening_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
        full_ = !connection && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS);
        if (connection) {
            clients_.push_back({.connection = std::move(connection)});
        }
    }

    /// A request, a signal to pass on, or the client's end: then what it asked for is to go.
    static void hear(Client& client) {
        const auto message = keeper::receive_message(client.connection.number());
        if (!message) {
            return;
        }
        if (message->bytes.empty()) {
            client.done = true;
            signal(client, SIGKILL);
        } else if (client.process == 0) {
            begin(client, *message);
        } else if (const auto number = parse_number<int>(message->bytes)) {
            signal(client, *number);
        }
    }

    static void begin(Client& client, const keeper::Message& message) {
        if (const auto fault = keeper::fault_of(message); !fault.empty()) {
            answer(client, {.how = Exit::How::failed, .number = 0, .text = fault});
            return;
        }
        const auto command = channel::decode_execute(message.bytes);
        client.process = start(command, message.files);
        if (client.process < 0) {
            const int number = errno;
            const auto text = "cannot run '" + command.arguments.front() + "' in '" + command.directory +
                              "': " + error_text(number);
            answer(client, {.how = Exit::How::failed, .number = number, .text = text});
        }
    }

    /// It leads a session of its own, so that its number is also that of its process group.
    static void signal(const Client& client, int number) {
        if (client.process > 0) {
            ::kill(-client.process, number);
        }
    }

    static void answer(Client& client, const Exit& exit) {
        client.done = true;
        static_cast<void>(keeper::send_message(client.connection.number(), channel::encode_exit(exit)));
    }

    void reap() {
        int status = 0;
        pid_t ended = 0;
        while ((ended = ::waitpid(-1, &status, WNOHANG)) > 0) {
            const auto client = std::find_if(clients_.begin(), clients_.end(), [ended](const Client& one) {
                return one.process == ended && !one.done;
            });
            if (client != clients_.end()) {
                answer(*client, exit_of(status));
            }
        }
    }

    FileDescriptor signals_;
    FileDescriptor listening_;
    std::list<Client> clients_;
    bool told_to_end_ = false;
    const std::size_t most_clients_ = most_clients();
    bool full_ =
        false;  ///< The last client could not be taken, for want of memory or of the host's descriptors.
};

}  // namespace

int attend(const std::optional<std::string>& socket) {
    sigset_t every;
    ::sigfillset(&every);
    ::sigprocmask(SIG_SETMASK, &every, nullptr);
    static_cast<void>(std::signal(SIGCHLD, SIG_DFL));  // where it is ignored, nobody learns how a child ended
    const bool heard = ::fcntl(STDOUT_FILENO, F_GETFD) != -1;  // else its number is soon another file's
    Attendant attendant{socket ? keeper::listen_at(*socket) : FileDescriptor{}};
    // Nobody may be reading; a node works without.
    if (heard) {
        static_cast<void>(write_all(STDOUT_FILENO, "READY\n", ready_limit));
    }
    attendant.attend();
    return 0;
}

}  // namespace tare::init
