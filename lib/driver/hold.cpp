// SPDX-License-Identifier: MIT OR GPL-2.0
#include "hold.hpp"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace nvdebug::driver {
namespace {

constexpr int longest_answer_ms = 5000;

/// A message to the helper.
struct Order {
    std::uint64_t timeslice_us; ///< 0: as before
    bool paused;
};

struct Report {
    std::uint32_t status;
    int error;
    bool there; ///< a process that it is about lives
    bool last;  ///< all was undone, and the helper ends
};

// --- in the helper: async-signal-safe calls only ---

class Hand {
  public:
    Hand(Helper &helper, HeldCalls &calls)
        : helper_(helper), calls_(calls), set_us_(calls.set.size()) {}

    void work(int patience_ms) {
        send({rm::ok, 0, true, false});
        for (int patience = -1;;) {
            const Helper::Woken woken = helper_.wait(patience);
            Order order{};
            if (woken == Helper::Woken::late) {
                undo();
                patience = -1; // until the next order
                continue;
            }
            if (woken == Helper::Woken::broken ||
                ::recv(helper_.socket(), &order, sizeof(order), 0) != sizeof(order)) {
                send({undo().status, 0, true, true});
                return;
            }
            const Answer answer = obey(order);
            send({answer.status, answer.error, is_there(), false});
            patience = paused_ || any_set() ? patience_ms : -1;
        }
    }

  private:
    void send(const Report &report) const {
        ::send(helper_.socket(), &report, sizeof(report), MSG_NOSIGNAL);
    }

    bool is_there() const {
        for (const auto *const calls : {&calls_.enable, &calls_.set})
            for (const Call &call : *calls)
                if (helper_.is_there(call))
                    return true;
        // Without calls there is no answer: all channels were disabled before, and no TSG is here.
        return calls_.enable.empty() && calls_.set.empty();
    }

    bool any_set() const {
        for (const std::uint64_t us : set_us_)
            if (us)
                return true;
        return false;
    }

    /// The first failure; what a process had that has ended is none.
    Answer make(Call &call) {
        if (!helper_.is_there(call))
            return {rm::ok, 0};
        const Answer answer = helper_.make(call);
        return answer.is_gone() ? Answer{rm::ok, 0} : answer;
    }

    Answer make_all(std::vector<Call> &calls) {
        Answer first{rm::ok, 0};
        for (Call &call : calls)
            if (const Answer answer = make(call); !answer.ok() && first.ok())
                first = answer;
        return first;
    }

    Answer pause(bool paused) {
        if (paused == paused_)
            return {rm::ok, 0};
        paused_ = paused;
        const Answer answer = make_all(paused ? calls_.disable : calls_.enable);
        if (!answer.ok() && paused) {
            make_all(calls_.enable); // all of it or nothing
            paused_ = false;
        }
        return answer;
    }

    /// What the TSG has now; 0: not known.
    std::uint64_t current(std::size_t n) {
        const Answer answer = make(calls_.look[n]);
        std::uint64_t us = 0;
        if (answer.ok())
            std::memcpy(&us, calls_.look[n].params.data(), sizeof(us));
        return us;
    }

    Answer put(std::size_t n, std::uint64_t us) {
        std::memcpy(calls_.set[n].params.data(), &us, sizeof(us));
        return make(calls_.set[n]);
    }

    /// @param us 0: what was before
    Answer set(std::size_t n, std::uint64_t us) {
        if (!us && !set_us_[n])
            return {rm::ok, 0}; // nothing was changed: whatever it is now is its own
        const std::uint64_t now = current(n);
        if (now && set_us_[n] && now != set_us_[n]) {
            // The process, or another, has set it meanwhile: it is put back to that.
            calls_.before_us[n] = now;
            set_us_[n] = 0;
        }
        if (us == set_us_[n])
            return {rm::ok, 0};
        const Answer answer = put(n, us ? us : calls_.before_us[n]);
        if (answer.ok())
            set_us_[n] = us;
        return answer;
    }

    Answer obey(const Order &order) {
        Answer first{rm::ok, 0};
        const auto note = [&](const Answer &answer) {
            if (first.ok() && !answer.ok())
                first = answer;
        };
        // A pause is in haste.
        note(pause(order.paused));
        for (std::size_t n = 0; n < set_us_.size(); n++)
            note(set(n, order.timeslice_us));
        return first;
    }

    Answer undo() { return obey({0, false}); }

    Helper &helper_;
    HeldCalls &calls_;
    std::vector<std::uint64_t> set_us_; ///< by TSG; 0: it is as it was before
    bool paused_ = false;
};

// --- in the process that holds ---

Error cannot_hold(int number) {
    return {
        code_of_errno(number), number, "",
        std::string("the process that would change the task, and undo it, cannot be started (") +
            ::strerrordesc_np(number) + "), so nothing was changed"};
}

} // namespace

Result<std::unique_ptr<TaskHold>> Hold::start(std::shared_ptr<Kernel> kernel,
                                              std::vector<Process> processes, HeldCalls calls,
                                              std::vector<HeldChannel> channels,
                                              std::chrono::milliseconds patience) {
    int sockets[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
        return tl::unexpected(cannot_hold(errno));
    std::unique_ptr<Hold> hold(new Hold(std::move(kernel), std::move(calls), std::move(channels)));
    HeldCalls &all = hold->calls_;
    Helper helper(*hold->kernel_, sockets[1], processes,
                  {&all.disable, &all.enable, &all.set, &all.look});
    Hand hand(helper, all);
    const int error =
        helper.fork("nvdebug-keeper", [&] { hand.work(static_cast<int>(patience.count())); });
    ::close(sockets[1]);
    hold->socket_ = sockets[0];
    hold->asked_ = 1;
    hold->processes_ = std::move(processes);
    if (error || !hold->finish())
        return tl::unexpected(cannot_hold(error ? error : EAGAIN));
    // Here they would outlive the helper's, which lets go of a process that ends.
    for (std::size_t n = 0; n < hold->processes_.size(); n++) {
        Process &process = hold->processes_[n];
        for (Process::Control &control : process.controls)
            control.here = Taken();
        if (std::ranges::none_of(all.enable, [&](const Call &call) { return call.process == n; }))
            process.held = Taken();
    }
    return hold;
}

Result<void> Hold::ask(const TaskState &wanted) {
    const Order order{wanted.timeslice_ns.value_or(0) / 1000, wanted.paused};
    if (socket_ < 0 || ::send(socket_, &order, sizeof(order), MSG_NOSIGNAL) != sizeof(order))
        return tl::unexpected(broken());
    states_.push_back(wanted);
    asked_++;
    return {};
}

Result<void> Hold::finish() {
    for (; asked_ > 0; asked_--) {
        pollfd wait{socket_, POLLIN, 0};
        int came;
        do
            came = ::poll(&wait, 1, longest_answer_ms);
        while (came < 0 && errno == EINTR);
        Report report{};
        if (came <= 0 || ::recv(socket_, &report, sizeof(report), 0) != sizeof(report) ||
            report.last)
            return tl::unexpected(broken());
        if (!report.there) {
            asked_ = 0;
            return tl::unexpected(Error{ErrorCode::not_found, ESRCH, "", "the process has ended"});
        }
        if (report.error || report.status == rm::gpu_is_lost) {
            asked_ = 0;
            return tl::unexpected(
                Error{ErrorCode::gone, ENODEV, "", "the GPU has gone, NVIDIA's driver says"});
        }
        if (report.status) {
            asked_ = 0;
            return tl::unexpected(Error{ErrorCode::unsupported, EOPNOTSUPP, "",
                                        "NVIDIA's driver refuses the change with status " +
                                            hex(report.status) + " (nvstatuscodes.h)"});
        }
    }
    states_.erase(states_.begin(), states_.end() - 1);
    return {};
}

/// The helper was killed, or hangs.
Error Hold::broken() {
    if (socket_ >= 0) {
        ::close(std::exchange(socket_, -1));
        undo_here();
    }
    asked_ = 0;
    return {ErrorCode::busy, ECHILD, "",
            "the process that holds the task, nvdebug-keeper, was ended; what it had changed was "
            "put back"};
}

void Hold::undo_here() {
    const auto device = kernel_->device("/dev/nvidiactl");
    const auto make = [&](Call &call) {
        Process &process = processes_[call.process];
        Process::Control &control = process.controls[call.control];
        const Taken taken(kernel_, kernel_->take(process.held.number(), control.there));
        // The number may be another file's by now.
        if (taken.number() >= 0 &&
            kernel_->device("/proc/self/fd/" + std::to_string(taken.number())) == device)
            make_call(*kernel_, taken.number(), call);
    };
    if (std::ranges::any_of(states_, &TaskState::paused))
        for (Call &call : calls_.enable)
            make(call);
    for (std::size_t n = 0; n < calls_.set.size(); n++)
        for (const TaskState &state : states_) {
            if (!state.timeslice_ns)
                continue;
            calls_.set[n].only_while_us = *state.timeslice_ns / 1000;
            std::memcpy(calls_.set[n].params.data(), &calls_.before_us[n], sizeof(std::uint64_t));
            make(calls_.set[n]);
        }
}

Hold::~Hold() {
    if (socket_ < 0)
        return;
    ::shutdown(socket_, SHUT_WR);
    for (;;) {
        pollfd wait{socket_, POLLIN, 0};
        const int came = ::poll(&wait, 1, longest_answer_ms);
        if (came < 0 && errno == EINTR)
            continue;
        Report report{};
        if (came > 0 && ::recv(socket_, &report, sizeof(report), 0) == sizeof(report)) {
            if (!report.last)
                continue; // of what was asked before
        } else if (!processes_.empty()) {
            undo_here();
        }
        break;
    }
    ::close(socket_);
}

} // namespace nvdebug::driver
