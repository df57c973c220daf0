// SPDX-License-Identifier: MIT OR GPL-2.0
#include "keeper.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nvdebug::driver {
namespace {

/** Messages of the keeper, and to it. */
constexpr char ready = 'r', undone = 'u', dismissed = 'd';
constexpr int patience_ms = 5000;

bool say(int socket, char byte) {
    return ::send(socket, &byte, 1, MSG_NOSIGNAL) == 1;
}

/** The message received within the time; 0: none, or the other end has been closed. */
char hear(int socket) {
    pollfd wait{socket, POLLIN, 0};
    int came;
    do
        came = ::poll(&wait, 1, patience_ms);
    while (came < 0 && errno == EINTR);
    char byte = 0;
    return came > 0 && ::recv(socket, &byte, 1, 0) == 1 ? byte : '\0';
}

/** What the keeper needs, made before it is forked: from then on nothing is allocated. */
struct Work {
    Kernel &kernel;
    std::vector<Call> &calls;
    int socket;
    struct Taken {
        std::size_t process;
        int number;
    };
    std::vector<Taken> taken;    ///< those of calls
    std::vector<int> of_calls;   ///< of each call the descriptor
    std::vector<int> kept;       ///< descriptors, rising
    std::vector<pollfd> awaited; ///< the holder, then each process; below 0: none of its is kept
};

// --- in the keeper: async-signal-safe calls only ---

bool is_kept(const Work &work, int number) {
    return std::ranges::binary_search(work.kept, number);
}

/** Those that /proc/self/fd has, but for @p folder itself. True: there were some. */
bool close_listed(const Work &work, int folder) {
    // linux_dirent64 of getdents64(2): 64 bits each for inode and offset, 16 for the length.
    constexpr std::size_t length_at = 16, name_at = 19;
    alignas(8) char entries[4096];
    bool any = false;
    for (;;) {
        const long got = ::syscall(SYS_getdents64, folder, entries, sizeof(entries));
        if (got <= 0)
            return any;
        std::uint16_t length = 0;
        for (long at = 0; at < got; at += length) {
            std::memcpy(&length, entries + at + length_at, sizeof(length));
            int number = 0;
            const char *name = entries + at + name_at;
            for (; *name >= '0' && *name <= '9'; name++)
                number = number * 10 + (*name - '0');
            if (*name || number == folder || is_kept(work, number))
                continue;
            ::close(number);
            any = true;
        }
    }
}

void close_others(const Work &work) {
    // close_range() is of Linux 5.9, and not every kernel that has pidfds has it.
    const int folder = ::open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return;
    // What is closed may make the rest move up in the list.
    while (close_listed(work, folder))
        ::lseek(folder, 0, SEEK_SET);
    ::close(folder);
}

/** It has ended. */
void let_go(Work &work, std::size_t process) {
    work.awaited[process + 1].fd = -1;
    for (const Work::Taken &taken : work.taken)
        if (taken.process == process)
            work.kernel.close(taken.number);
}

/** True: the calls are to be made. */
bool keep(Work &work) {
    for (;;) {
        if (::poll(work.awaited.data(), work.awaited.size(), -1) < 0) {
            if (errno == EINTR)
                continue;
            return true; // nothing can be waited for: better undone than never
        }
        for (std::size_t n = 1; n < work.awaited.size(); n++)
            if (work.awaited[n].revents)
                let_go(work, n - 1);
        if (!work.awaited[0].revents)
            continue;
        char byte = 0;
        return ::recv(work.socket, &byte, 1, 0) != 1 || byte != dismissed;
    }
}

[[noreturn]] void run(Work &work) {
    ::setsid();
    ::prctl(PR_SET_NAME, "nvdebug-keeper");
    // Another's mount point is not to be kept busy.
    if (::chdir("/") != 0)
        ::_exit(1);
    close_others(work);
    say(work.socket, ready);
    if (keep(work)) {
        for (std::size_t n = 0; n < work.calls.size(); n++)
            if (work.awaited[work.calls[n].process + 1].fd >= 0)
                make_call(work.kernel, work.of_calls[n], work.calls[n]);
        say(work.socket, undone);
    }
    ::_exit(0);
}

// --- in the process that holds the lease ---

Error cannot_keep(int number) {
    return {code_of_errno(number), number, "",
            std::string("the process that would undo the change cannot be started (") +
                ::strerrordesc_np(number) + "), so nothing was changed"};
}

/** fork() without the C library's own work; the end of the child sends no signal. */
pid_t plain_fork() {
    return static_cast<pid_t>(::syscall(SYS_clone, 0, 0, 0, 0, 0));
}

/** Forks the keeper from a child that ends at once, so that no process has to wait for it. */
int fork_keeper(Work &work) {
    sigset_t all, before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t child = plain_fork();
    if (child == 0) {
        if (plain_fork() == 0)
            run(work);
        ::_exit(0);
    }
    const int error = child < 0 ? errno : 0;
    while (child > 0 && ::waitpid(child, nullptr, __WALL) < 0 && errno == EINTR)
        continue;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return error;
}

} // namespace

Answer make_call(Kernel &kernel, int descriptor, Call &call) {
    if (call.only_while_us) {
        rm::Timeslice now{};
        const Answer answer = ask_rm(kernel, descriptor, call.client, call.object,
                                     rm::Timeslice::command, &now, sizeof(now));
        if (answer.ok() && now.us != *call.only_while_us)
            return answer;
    }
    return ask_rm(kernel, descriptor, call.client, call.object, call.command, call.params.data(),
                  call.params.size());
}

Result<std::shared_ptr<Keeper>> Keeper::start(std::shared_ptr<Kernel> kernel,
                                              const std::vector<Process> &processes,
                                              std::vector<Call> calls) {
    int sockets[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
        return tl::unexpected(cannot_keep(errno));
    const std::shared_ptr<Keeper> keeper(
        new Keeper(std::move(kernel), std::move(calls), sockets[0]));
    Work work{*keeper->kernel_, keeper->calls_, sockets[1], {}, {}, {sockets[1]}, {}};
    work.awaited.assign(processes.size() + 1, pollfd{-1, POLLIN, 0});
    work.awaited[0].fd = sockets[1];
    for (const Call &call : keeper->calls_) {
        const Process &process = processes[call.process];
        const int number = process.controls[call.control].here.number();
        work.of_calls.push_back(number);
        work.awaited[call.process + 1].fd = process.held.number();
        if (std::ranges::count(work.kept, number))
            continue;
        work.taken.push_back({call.process, number});
        work.kept.push_back(number);
        if (!std::ranges::count(work.kept, process.held.number()))
            work.kept.push_back(process.held.number());
    }
    std::ranges::sort(work.kept);
    const int error = fork_keeper(work);
    ::close(sockets[1]);
    if (error || hear(sockets[0]) != ready) {
        keeper->dismiss();
        return tl::unexpected(cannot_keep(error ? error : EAGAIN));
    }
    return keeper;
}

void Keeper::settle(std::vector<Process> processes) {
    processes_ = std::move(processes);
    // Here they would outlive the keeper's, which lets go of a process that ends.
    for (Process &process : processes_)
        for (Process::Control &control : process.controls)
            control.here = Taken();
}

void Keeper::dismiss() {
    if (socket_ < 0)
        return;
    say(socket_, dismissed);
    ::close(std::exchange(socket_, -1));
}

Keeper::~Keeper() {
    if (socket_ < 0)
        return;
    ::shutdown(socket_, SHUT_WR);
    const bool done = hear(socket_) == undone;
    ::close(socket_);
    if (done)
        return;
    const auto device = kernel_->device("/dev/nvidiactl");
    for (Call &call : calls_) {
        if (call.process >= processes_.size())
            return; // it was never settled: nothing was done
        Process &process = processes_[call.process];
        Process::Control &control = process.controls[call.control];
        if (control.here.number() < 0)
            control.here = Taken(kernel_, kernel_->take(process.held.number(), control.there));
        const int number = control.here.number();
        // The number may be another file's by now.
        if (number >= 0 && kernel_->device("/proc/self/fd/" + std::to_string(number)) == device)
            make_call(*kernel_, number, call);
    }
}

} // namespace nvdebug::driver
