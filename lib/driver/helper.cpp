// SPDX-License-Identifier: MIT OR GPL-2.0
#include "helper.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nvdebug::driver {
namespace {

rm::DisableChannels channels_of(const Call &call) {
    rm::DisableChannels all{};
    std::memcpy(&all, call.params.data(), sizeof(all));
    return all;
}

Answer make_one(Kernel &kernel, int descriptor, const Call &call, const rm::DisableChannels &all,
                std::uint32_t n) {
    rm::DisableChannels one{};
    one.disable = all.disable;
    one.count = 1;
    one.clients[0] = all.clients[n];
    one.channels[0] = all.channels[n];
    return ask_rm(kernel, descriptor, call.client, call.object, rm::DisableChannels::command, &one,
                  sizeof(one));
}

/// Makes a request for each channel alone. Fails with the error of one of them, or if all channels
/// have been freed.
Answer make_each(Kernel &kernel, int descriptor, const Call &call, const rm::DisableChannels &all) {
    Answer gone{rm::ok, 0}, failed = gone;
    bool any = false;
    for (std::uint32_t n = 0; n < all.count; n++) {
        const Answer answer = make_one(kernel, descriptor, call, all, n);
        any = any || answer.ok();
        if (!answer.ok())
            (answer.is_gone() ? gone : failed) = answer;
    }
    return !failed.ok() ? failed : any ? Answer{rm::ok, 0} : gone;
}

/// Enables the channels that a refused list has disabled. The driver handles a list in its order,
/// up to the first channel that has been freed (measured on an H100 with 580.159.04).
void enable_until_freed(Kernel &kernel, int descriptor, const Call &call, rm::DisableChannels all) {
    all.disable = false;
    for (std::uint32_t n = 0; n < all.count; n++)
        if (make_one(kernel, descriptor, call, all, n).is_gone())
            return;
}

/// Makes the call for each of its channels alone, and leaves in it the channels that failed.
Answer undo_each(Kernel &kernel, int descriptor, Call &call, rm::DisableChannels all) {
    Answer failed{rm::ok, 0};
    std::uint32_t left = 0;
    for (std::uint32_t n = 0; n < all.count; n++) {
        const Answer answer = make_one(kernel, descriptor, call, all, n);
        if (answer.ok() || answer.is_gone())
            continue;
        failed = answer;
        all.clients[left] = all.clients[n];
        all.channels[left++] = all.channels[n];
    }
    all.count = left;
    std::memcpy(call.params.data(), &all, sizeof(all));
    return failed;
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
    const Answer answer = ask_rm(kernel, descriptor, call.client, call.object, call.command,
                                 call.params.data(), call.params.size());
    // The process may have freed one of the channels. Then the driver has not handled the channels
    // behind it. It counts how often a channel is disabled, so no channel may be disabled twice.
    if (call.command == rm::DisableChannels::command && answer.is_gone())
        if (const rm::DisableChannels all = channels_of(call); all.count > 1) {
            if (all.disable)
                enable_until_freed(kernel, descriptor, call, all);
            return make_each(kernel, descriptor, call, all);
        }
    return answer;
}

Answer undo_call(Kernel &kernel, int descriptor, Call &call) {
    Answer answer{rm::ok, 0};
    bool is_ours = true;
    if (call.only_while_us) {
        rm::Timeslice now{};
        answer = ask_rm(kernel, descriptor, call.client, call.object, rm::Timeslice::command, &now,
                        sizeof(now));
        is_ours = answer.ok() && now.us == *call.only_while_us;
    }
    if (is_ours)
        answer = ask_rm(kernel, descriptor, call.client, call.object, call.command,
                        call.params.data(), call.params.size());
    if (call.command == rm::DisableChannels::command && !answer.ok())
        if (const rm::DisableChannels all = channels_of(call); all.count > 1)
            answer = undo_each(kernel, descriptor, call, all);
    call.done = answer.ok() || answer.is_gone();
    return call.done ? Answer{rm::ok, 0} : answer;
}

Helper::Helper(Kernel &kernel, int socket, const std::vector<Process> &processes,
               std::initializer_list<std::vector<Call> *> calls)
    : kernel_(kernel), socket_(socket), kept_{socket},
      awaited_(processes.size() + 1, pollfd{-1, POLLIN, 0}) {
    awaited_[0].fd = socket;
    for (const std::vector<Call> *const list : calls)
        for (const Call &call : *list) {
            const Process &process = processes[call.process];
            const int number = process.controls[call.control].here.number();
            awaited_[call.process + 1].fd = process.held.number();
            if (std::ranges::count(kept_, number))
                continue;
            taken_.push_back({call.process, call.control, number});
            kept_.push_back(number);
            if (!std::ranges::count(kept_, process.held.number()))
                kept_.push_back(process.held.number());
        }
    std::ranges::sort(kept_);
}

bool Helper::is_kept(int number) const {
    return std::ranges::binary_search(kept_, number);
}

/// Closes the descriptors that /proc/self/fd lists, except @p folder itself. Returns whether it
/// closed any.
bool Helper::close_listed(int folder) const {
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
            if (*name || number == folder || is_kept(number))
                continue;
            ::close(number);
            any = true;
        }
    }
}

void Helper::close_others() const {
    // close_range() came with Linux 5.9, and some older kernels have pidfds already.
    const int folder = ::open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return;
    // Closing a descriptor may move the remaining ones up in the list, so the list is read again.
    while (close_listed(folder))
        ::lseek(folder, 0, SEEK_SET);
    ::close(folder);
}

void Helper::let_go(std::size_t process) {
    awaited_[process + 1].fd = -1;
    for (const Taken &taken : taken_)
        if (taken.process == process)
            kernel_.close(taken.number);
}

/// Returns whether a process has ended.
bool Helper::let_go_of_ended() {
    bool any = false;
    for (std::size_t n = 1; n < awaited_.size(); n++)
        if (awaited_[n].revents && awaited_[n].fd >= 0) {
            let_go(n - 1);
            any = true;
        }
    return any;
}

Helper::Woken Helper::wait(int timeout_ms) {
    for (;;) {
        const int came = ::poll(awaited_.data(), awaited_.size(), timeout_ms);
        if (came < 0 && errno == EINTR)
            continue;
        if (came <= 0)
            return came ? Woken::broken : Woken::late;
        let_go_of_ended();
        if (awaited_[0].revents)
            return Woken::message;
    }
}

void Helper::pause(int ms) {
    if (socket_ >= 0)
        ::close(std::exchange(socket_, -1));
    awaited_[0].fd = -1;
    const int came = ::poll(awaited_.data(), awaited_.size(), ms);
    if (came > 0)
        let_go_of_ended();
    else if (came < 0 && errno != EINTR) // the processes cannot be waited for
        ::poll(nullptr, 0, ms);
}

int Helper::number_of(const Call &call) const {
    const auto found = std::ranges::find_if(taken_, [&](const Taken &taken) {
        return taken.process == call.process && taken.control == call.control;
    });
    return found->number;
}

Answer Helper::make(Call &call) {
    return make_call(kernel_, number_of(call), call);
}

Answer Helper::undo(Call &call) {
    call.done = call.done || !is_there(call);
    return call.done ? Answer{rm::ok, 0} : undo_call(kernel_, number_of(call), call);
}

int Helper::fork(const char *name, const std::function<void()> &work) {
    sigset_t all, before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const int child = kernel_.fork();
    if (child == 0) {
        if (kernel_.fork() == 0) {
            ::setsid();
            ::prctl(PR_SET_NAME, name);
            // A working directory elsewhere could keep a mount point busy.
            if (::chdir("/") == 0) {
                close_others();
                work();
            }
        }
        ::_exit(0);
    }
    const int error = child < 0 ? -child : 0;
    while (child > 0 && ::waitpid(child, nullptr, __WALL) < 0 && errno == EINTR)
        continue;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return error;
}

} // namespace nvdebug::driver
