// SPDX-License-Identifier: MIT OR GPL-2.0
#include "keeper.hpp"

#include <cerrno>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace nvdebug::driver {
namespace {

/// Messages of the keeper, and to it.
constexpr char ready = 'r', undone = 'u', dismissed = 'd';
constexpr int patience_ms = 5000;

bool say(int socket, char byte) {
    return ::send(socket, &byte, 1, MSG_NOSIGNAL) == 1;
}

/// The message received within the time; 0: none, or the other end has been closed.
char hear(int socket) {
    pollfd wait{socket, POLLIN, 0};
    int came;
    do
        came = ::poll(&wait, 1, patience_ms);
    while (came < 0 && errno == EINTR);
    char byte = 0;
    return came > 0 && ::recv(socket, &byte, 1, 0) == 1 ? byte : '\0';
}

/// In the helper: async-signal-safe calls only.
void keep(Helper &helper, std::vector<Call> &calls) {
    say(helper.socket(), ready);
    // Where nothing can be waited for, better undone than never.
    char byte = 0;
    if (helper.wait(-1) == Helper::Woken::message && ::recv(helper.socket(), &byte, 1, 0) == 1 &&
        byte == dismissed)
        return;
    for (Call &call : calls)
        if (helper.is_there(call))
            helper.make(call);
    say(helper.socket(), undone);
}

// --- in the process that holds the lease ---

Error cannot_keep(int number) {
    return {code_of_errno(number), number, "",
            std::string("the process that would undo the change cannot be started (") +
                ::strerrordesc_np(number) + "), so nothing was changed"};
}

} // namespace

Result<std::shared_ptr<Keeper>> Keeper::start(std::shared_ptr<Kernel> kernel,
                                              const std::vector<Process> &processes,
                                              std::vector<Call> calls) {
    int sockets[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
        return tl::unexpected(cannot_keep(errno));
    const std::shared_ptr<Keeper> keeper(
        new Keeper(std::move(kernel), std::move(calls), sockets[0]));
    Helper helper(*keeper->kernel_, sockets[1], processes, {&keeper->calls_});
    const int error = helper.fork("nvdebug-keeper", [&] { keep(helper, keeper->calls_); });
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
