// SPDX-License-Identifier: MIT OR GPL-2.0
#include "keeper.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <poll.h>
#include <set>
#include <sys/socket.h>
#include <unistd.h>

namespace nvdebug::driver {
namespace {

constexpr int patience_ms = 5000;

/// A message from the keeper, or to it.
struct Said {
    enum What : int { nothing, ready, undone, dismissed } what;
    pid_t pid;          ///< the keeper's
    int error;          ///< errno of its entry in the journal; 0: it is written
    Answer failed;      ///< a failed call
    std::uint64_t left; ///< not_done()
};

bool say(int socket, const Said &said) {
    return ::send(socket, &said, sizeof(said), MSG_NOSIGNAL) == sizeof(said);
}

/// Returns the message received within the time, or Said::nothing.
Said hear(int socket) {
    pollfd wait{socket, POLLIN, 0};
    int came;
    do
        came = ::poll(&wait, 1, patience_ms);
    while (came < 0 && errno == EINTR);
    Said said{};
    return came > 0 && ::recv(socket, &said, sizeof(said), 0) == sizeof(said) ? said : Said{};
}

// --- the helper, which makes only async-signal-safe calls ---

/// Makes the calls that are not done. Returns one of the failures, if there are any.
Answer undo_all(Helper &helper, std::vector<Call> &calls) {
    Answer failed{rm::ok, 0};
    for (Call &call : calls)
        if (const Answer answer = helper.undo(call); !answer.ok())
            failed = answer;
    return failed;
}

void keep(Helper &helper, std::vector<Call> &calls, JournalEntry &entry) {
    say(helper.socket(), {Said::ready, ::getpid(), entry.write(), {}, 0});
    // If waiting fails, the calls are made now: too early is safer than never.
    Said said{};
    if (helper.wait(-1) == Helper::Woken::message &&
        ::recv(helper.socket(), &said, sizeof(said), 0) == sizeof(said) &&
        said.what == Said::dismissed)
        return entry.remove();
    Answer failed = undo_all(helper, calls);
    if (failed.ok())
        entry.remove();
    else
        entry.set_undoing();
    say(helper.socket(), {Said::undone, ::getpid(), 0, failed, not_done(calls)});
    for (Pauses pauses; !failed.ok(); pauses.grow()) {
        helper.pause(pauses.next_ms());
        failed = undo_all(helper, calls);
    }
    entry.remove();
}

// --- the process that has the lease ---

Error cannot_keep(int number) {
    return {code_of_errno(number), number, "",
            std::string("the process that would undo the change cannot be started (") +
                ::strerrordesc_np(number) + "), so nothing was changed"};
}

template <typename Params>
Params params_of(const Call &call) {
    Params params{};
    std::memcpy(&params, call.params.data(), std::min(sizeof(params), call.params.size()));
    return params;
}

/// Returns the command that does for a whole process what the call does.
std::string command_for(std::uint32_t pid, const Call &call) {
    constexpr std::array levels{"low", "medium", "high"};
    constexpr std::array modes{"wfi", "cta", "cilp"};
    const std::string number = std::to_string(pid), set = "nvdebugctl task set " + number;
    switch (call.command) {
    case rm::SetTimeslice::command:
        return set + " --timeslice " + std::to_string(params_of<rm::SetTimeslice>(call).us) + "us";
    case rm::SetInterleave::command:
        return set + " --interleave " + levels.at(params_of<rm::SetInterleave>(call).level);
    case rm::SetPreemptionMode::command:
        return set + " --preemption " + modes.at(params_of<rm::SetPreemptionMode>(call).compute);
    default:
        return (params_of<rm::DisableChannels>(call).disable ? "nvdebugctl task pause "
                                                             : "nvdebugctl task resume ") +
               number;
    }
}

/// Returns `process 4711 is still changed ('nvdebugctl task resume 4711' undoes it)`, for all calls
/// that are not done.
std::string describe_left(const std::vector<std::uint32_t> &pids, const std::vector<Call> &calls) {
    std::set<std::string> named;
    std::string text;
    for (const Call &call : calls) {
        if (call.done)
            continue;
        const std::uint32_t pid = pids[call.process];
        const std::string one = "process " + std::to_string(pid) + " is still changed ('" +
                                command_for(pid, call) + "' undoes it)";
        if (named.insert(one).second)
            text += (text.empty() ? "" : ", ") + one;
    }
    return text;
}

} // namespace

std::vector<std::uint32_t> pids_of(const std::vector<Process> &processes) {
    std::vector<std::uint32_t> pids;
    for (const Process &process : processes)
        pids.push_back(process.pid);
    return pids;
}

std::string describe(const Answer &failed) {
    return failed.error ? std::string("NVIDIA's driver fails (") +
                              ::strerrordesc_np(std::abs(failed.error)) + ")"
                        : "NVIDIA's driver refuses that with status " + hex(failed.status) +
                              " (nvstatuscodes.h)";
}

Undone left_to(pid_t keeper, const std::vector<std::uint32_t> &pids, const std::vector<Call> &calls,
               const Answer &failed) {
    return {false, true,
            describe_left(pids, calls) + ": " + describe(failed) + ", and nvdebug-keeper, " +
                "process " + std::to_string(keeper) + ", tries again until it is undone"};
}

std::uint64_t not_done(const std::vector<Call> &calls) {
    constexpr std::size_t last = std::numeric_limits<std::uint64_t>::digits - 1;
    std::uint64_t left = 0;
    for (std::size_t n = 0; n < calls.size(); n++)
        if (!calls[n].done)
            left |= std::uint64_t{1} << std::min(n, last);
    return left;
}

void mark_done(std::vector<Call> &calls, std::uint64_t left) {
    constexpr std::size_t last = std::numeric_limits<std::uint64_t>::digits - 1;
    for (std::size_t n = 0; n < calls.size(); n++)
        calls[n].done = !(left >> std::min(n, last) & 1);
}

Undone undo_calls(const std::shared_ptr<Kernel> &kernel, const std::string &gpu,
                  const std::vector<Process> &processes, std::vector<Call> calls) {
    Answer failed{rm::ok, 0};
    const auto number_of = [&](const Call &call) {
        return processes[call.process].controls[call.control].here.number();
    };
    for (Call &call : calls) {
        if (call.done)
            continue;
        const Answer answer = number_of(call) < 0 ? Answer{rm::ok, number_of(call)}
                                                  : undo_call(*kernel, number_of(call), call);
        if (!answer.ok())
            failed = answer;
    }
    std::erase_if(calls, &Call::done);
    if (calls.empty())
        return {};
    if (std::ranges::all_of(calls, [&](const Call &call) { return number_of(call) >= 0; }))
        if (const auto keeper =
                Keeper::start(kernel, gpu, processes, calls, Keeper::Written::if_possible))
            return (*keeper)->undo();
    return {false, false,
            describe_left(pids_of(processes), calls) + ": " + describe(failed) +
                ", and no process could be started that tries again"};
}

namespace {

/// Duplicates a descriptor of a process, also if its first thread has ended. Returns -ESRCH if all
/// threads of the process have ended.
int take_again(const std::shared_ptr<Kernel> &kernel, const Process &process, int descriptor) {
    const int taken = kernel->take(process.held.number(), descriptor);
    if (taken != -ESRCH)
        return taken;
    const auto thread = descriptors_of(*kernel, process.pid).thread;
    if (!thread || start_of(*kernel, process.pid) != process.started)
        return -ESRCH;
    const Taken other(kernel, kernel->thread(*thread));
    const int of_other = other.number() < 0 ? -ESRCH : kernel->take(other.number(), descriptor);
    // This other thread may have ended, too, which does not mean that the process has ended.
    return of_other == -ESRCH ? -EAGAIN : of_other;
}

} // namespace

Undone undo_anew(const std::shared_ptr<Kernel> &kernel, const std::string &gpu,
                 std::vector<Process> &processes, std::vector<Call> calls) {
    const auto device = kernel->device("/dev/nvidiactl");
    for (Call &call : calls) {
        Process &process = processes[call.process];
        Process::Control &control = process.controls[call.control];
        if (control.here.number() < 0)
            control.here = Taken(kernel, take_again(kernel, process, control.there));
        const int number = control.here.number();
        // The process has ended or has closed it, or the number now belongs to another file.
        call.done =
            number == -ESRCH || number == -EBADF ||
            (number >= 0 && kernel->device("/proc/self/fd/" + std::to_string(number)) != device);
    }
    return undo_calls(kernel, gpu, processes, std::move(calls));
}

Result<std::shared_ptr<Keeper>> Keeper::start(std::shared_ptr<Kernel> kernel,
                                              const std::string &gpu,
                                              const std::vector<Process> &processes,
                                              std::vector<Call> calls, Written written) {
    int sockets[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
        return tl::unexpected(cannot_keep(errno));
    const std::shared_ptr<Keeper> keeper(
        new Keeper(std::move(kernel), gpu, processes, std::move(calls), sockets[0]));
    Helper helper(*keeper->kernel_, sockets[1], processes, {&keeper->calls_});
    const int error =
        helper.fork("nvdebug-keeper", [&] { keep(helper, keeper->calls_, keeper->entry_); });
    ::close(sockets[1]);
    const Said said = error ? Said{} : hear(sockets[0]);
    if (said.what != Said::ready) {
        keeper->dismiss();
        return tl::unexpected(cannot_keep(error ? error : EAGAIN));
    }
    if (said.error && written == Written::needed) {
        keeper->dismiss();
        return tl::unexpected(not_written(said.error));
    }
    keeper->pid_ = said.pid;
    return keeper;
}

void Keeper::settle(std::vector<Process> processes) {
    processes_ = std::move(processes);
    // Descriptors here would outlive those of the keeper, which closes them when their process
    // ends.
    for (Process &process : processes_)
        for (Process::Control &control : process.controls)
            control.here = Taken();
}

void Keeper::dismiss() {
    if (socket_ < 0)
        return;
    say(socket_, {Said::dismissed, 0, 0, {}, 0});
    ::close(std::exchange(socket_, -1));
}

Undone Keeper::undo() {
    if (socket_ < 0)
        return {};
    ::shutdown(socket_, SHUT_WR);
    const Said said = hear(socket_);
    ::close(std::exchange(socket_, -1));
    Undone undone;
    if (said.what != Said::undone) {
        // The keeper was killed, or hangs. If it was never settled, its starter still has the
        // descriptors.
        if (!processes_.empty()) {
            undone = undo_anew(kernel_, gpu_, processes_, calls_);
            if (undone.all || undone.is_kept)
                entry_.remove();
        } else
            undone = {false, false,
                      describe_left(pids_, calls_) +
                          ": the process that would undo it, nvdebug-keeper, has ended"};
    } else if (!said.failed.ok()) {
        mark_done(calls_, said.left);
        undone = left_to(pid_, pids_, calls_, said.failed);
    }
    *left_ = undone.left;
    return undone;
}

Keeper::~Keeper() {
    undo();
}

} // namespace nvdebug::driver
