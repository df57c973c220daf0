// SPDX-License-Identifier: MIT OR GPL-2.0
#include "hold.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace nvdebug::driver {
namespace {

constexpr int longest_answer_ms = 5000;

/// A message to the helper.
struct Order {
    std::uint64_t timeslice_us; ///< 0: the timeslice that was before
    bool paused;
};

struct Report {
    Answer failed;
    bool there;                       ///< a process that a call is about lives
    bool last;                        ///< the last report: the helper ends once everything is
                                      ///< undone
    std::uint64_t disabled_left = 0;  ///< not_done() of the calls that enable channels
    std::uint64_t timeslice_left = 0; ///< not_done() of the calls that set timeslices
    pid_t keeper = 0;
    int not_written = 0; ///< errno of its entry in the journal
};

// --- the helper, which makes only async-signal-safe calls ---

/// Carries out the orders in the helper. A change must be undone until the driver has confirmed the
/// undo or the process has ended. So an undo that fails is repeated with growing pauses, and the
/// helper does not end before.
class HoldHelper {
  public:
    HoldHelper(Helper &helper, HeldCalls &calls, SharedNumbers &before_us, JournalEntry &entry)
        : helper_(helper), calls_(calls), before_us_(before_us), entry_(entry),
          enable_(calls.enable), slices_(calls.set.size()) {
        for (Call &call : enable_)
            call.done = true;
    }

    void work(int patience_ms) {
        send({.failed = {}, .there = true, .last = false, .not_written = entry_.write()});
        int waited_ms = 0; // since the last order
        for (;;) {
            const int left_ms = is_asked() ? std::max(patience_ms - waited_ms, 0) : -1;
            const int wait_ms = !is_owed()    ? left_ms
                                : left_ms < 0 ? pauses_.next_ms()
                                              : std::min(left_ms, pauses_.next_ms());
            const Helper::Woken woken = helper_.wait(wait_ms);
            Order order{};
            if (woken == Helper::Woken::late) {
                waited_ms += wait_ms;
                if (is_asked() && waited_ms >= patience_ms)
                    wanted_ = {}; // until the next order
                else
                    pauses_.grow();
                undo();
                continue;
            }
            if (woken == Helper::Woken::broken ||
                ::recv(helper_.socket(), &order, sizeof(order), 0) != sizeof(order))
                return end();
            waited_ms = 0;
            pauses_.begin_anew();
            const Answer answer = obey(order);
            send({answer, is_there(), false});
        }
    }

  private:
    /// The timeslice that a TSG was ordered to have.
    struct Slice {
        std::uint64_t us = 0;      ///< 0: the TSG has the timeslice that was before
        bool is_confirmed = false; ///< the driver confirmed it; else the TSG may have another one
    };

    void send(const Report &report) const {
        Report made = report;
        made.keeper = ::getpid();
        ::send(helper_.socket(), &made, sizeof(made), MSG_NOSIGNAL);
    }

    void end() {
        wanted_ = {};
        Report report{undo(), true, true, not_done(enable_)};
        for (std::size_t n = 0; n < slices_.size(); n++)
            calls_.set[n].done = !slices_[n].us;
        report.timeslice_left = not_done(calls_.set);
        if (is_owed())
            entry_.set_undoing();
        else
            entry_.remove();
        send(report);
        // The owner has received its last report, so the helper goes on alone.
        for (pauses_.begin_anew(); is_owed(); pauses_.grow()) {
            helper_.pause(pauses_.next_ms());
            undo();
        }
        entry_.remove();
    }

    bool is_there() const {
        for (const auto *const calls : {&calls_.enable, &calls_.set})
            for (const Call &call : *calls)
                if (helper_.is_there(call))
                    return true;
        // No calls means that all channels were disabled before and that the processes have no TSG.
        // Such a hold counts as alive.
        return calls_.enable.empty() && calls_.set.empty();
    }

    bool is_asked() const { return wanted_.paused || wanted_.timeslice_us; }

    /// Returns whether something is changed that the last order does not ask for.
    bool is_owed() const {
        return (!wanted_.paused &&
                std::ranges::any_of(enable_, [](const Call &call) { return !call.done; })) ||
               (!wanted_.timeslice_us &&
                std::ranges::any_of(slices_, [](const Slice &slice) { return slice.us != 0; }));
    }

    /// Makes a call and returns its failure. It is no failure that the process has ended, or has
    /// freed the object.
    Answer make(Call &call) {
        if (!helper_.is_there(call))
            return {rm::ok, 0};
        const Answer answer = helper_.make(call);
        return answer.is_gone() ? Answer{rm::ok, 0} : answer;
    }

    Answer enable() {
        Answer first{rm::ok, 0};
        for (Call &call : enable_)
            if (const Answer answer = helper_.undo(call); !answer.ok() && first.ok())
                first = answer;
        return first;
    }

    /// Disables all channels. A pause that is in effect is not asked for again, because the driver
    /// counts how often a channel was disabled, and needs as many requests to enable it (measured on
    /// an H100 with 580.159.04).
    Answer disable() {
        if (is_paused_)
            return {rm::ok, 0};
        // A channel that could not be enabled would be counted twice.
        if (const Answer answer = enable(); !answer.ok()) {
            wanted_.paused = false;
            return answer;
        }
        for (std::size_t n = 0; n < enable_.size(); n++) {
            std::ranges::copy(calls_.enable[n].params, enable_[n].params.begin());
            enable_[n].done = false;
        }
        Answer first{rm::ok, 0};
        for (Call &call : calls_.disable)
            if (const Answer answer = make(call); !answer.ok() && first.ok())
                first = answer;
        if (first.ok()) {
            is_paused_ = true;
            return first;
        }
        wanted_.paused = false; // a pause holds for all channels or for none
        resume();
        return first;
    }

    Answer resume() {
        is_paused_ = false;
        return enable();
    }

    Answer put(std::size_t n, std::uint64_t us) {
        std::memcpy(calls_.set[n].params.data(), &us, sizeof(us));
        return make(calls_.set[n]);
    }

    /// Sets a timeslice. @param us 0: the timeslice that was before
    Answer set(std::size_t n, std::uint64_t us) {
        Slice &slice = slices_[n];
        if (!us && !slice.us)
            return {rm::ok, 0}; // nothing was changed here, so the TSG keeps its present timeslice
        const Answer looked = make(calls_.look[n]);
        std::uint64_t now = 0;
        if (looked.ok())
            std::memcpy(&now, calls_.look[n].params.data(), sizeof(now));
        if (slice.is_confirmed && now && now != slice.us) {
            // The process or another program has set the timeslice since. That value stays, and
            // becomes the one to restore. A value that another helper has set is restored by that
            // helper.
            if (us && now != before_us_[n] && !entry_.is_elsewhere(n)) {
                before_us_[n] = now;
                entry_.set_timeslice(n, now);
            }
            slice = {};
            if (!us)
                return {rm::ok, 0};
        } else if (slice.is_confirmed && us == slice.us) {
            return {rm::ok, 0};
        } else if (!us && !looked.ok()) {
            return looked;
        }
        const Answer answer = put(n, us ? us : before_us_[n]);
        if (answer.ok())
            slice = {us, us != 0};
        else if (us)
            slice = {us, false};
        return answer;
    }

    Answer set_all(std::uint64_t us) {
        Answer first{rm::ok, 0};
        for (std::size_t n = 0; n < slices_.size(); n++)
            if (const Answer answer = set(n, us); !answer.ok() && first.ok())
                first = answer;
        return first;
    }

    Answer obey(const Order &order) {
        wanted_ = order;
        // The pause comes first, because it is urgent.
        const Answer paused = order.paused ? disable() : resume();
        const Answer set = set_all(order.timeslice_us);
        return paused.ok() ? set : paused;
    }

    /// Undoes the changes that the last order does not ask for.
    Answer undo() {
        const Answer enabled = wanted_.paused ? Answer{rm::ok, 0} : resume();
        const Answer set = wanted_.timeslice_us ? Answer{rm::ok, 0} : set_all(0);
        return enabled.ok() ? set : enabled;
    }

    Helper &helper_;
    HeldCalls &calls_;
    SharedNumbers &before_us_;
    JournalEntry &entry_;
    std::vector<Call> enable_;  ///< copies of HeldCalls::enable; not done: the channels may be
                                ///< disabled
    std::vector<Slice> slices_; ///< by TSG
    Order wanted_{};
    bool is_paused_ = false; ///< the driver confirmed that all channels are disabled
    Pauses pauses_;
};

// --- the process that has the Hold ---

Error cannot_hold(int number) {
    return {
        code_of_errno(number), number, "",
        std::string("the process that would change the task, and undo it, cannot be started (") +
            ::strerrordesc_np(number) + "), so nothing was changed"};
}

} // namespace

SharedNumbers::~SharedNumbers() {
    if (!all_.empty())
        ::munmap(all_.data(), all_.size_bytes());
}

int SharedNumbers::begin(const std::vector<std::uint64_t> &values) {
    if (values.empty())
        return 0;
    void *const memory = ::mmap(nullptr, values.size() * sizeof(std::uint64_t),
                                PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return errno;
    all_ = {static_cast<std::uint64_t *>(memory), values.size()};
    std::ranges::copy(values, all_.begin());
    return 0;
}

Result<std::unique_ptr<TaskHold>>
Hold::start(std::shared_ptr<Kernel> kernel, const std::string &gpu, std::vector<Process> processes,
            HeldCalls calls, std::vector<HeldChannel> channels, const HoldOptions &options) {
    int sockets[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
        return tl::unexpected(cannot_hold(errno));
    std::unique_ptr<Hold> hold(new Hold(std::move(kernel), gpu, processes, std::move(calls),
                                        std::move(channels), options.report_left));
    HeldCalls &all = hold->calls_;
    Helper helper(*hold->kernel_, sockets[1], processes,
                  {&all.disable, &all.enable, &all.set, &all.look});
    if (const int error = hold->before_us_.begin(all.before_us)) {
        ::close(sockets[0]);
        ::close(sockets[1]);
        return tl::unexpected(cannot_hold(error));
    }
    HoldHelper own(helper, all, hold->before_us_, hold->entry_);
    const int error = helper.fork("nvdebug-keeper",
                                  [&] { own.work(static_cast<int>(options.patience.count())); });
    ::close(sockets[1]);
    hold->socket_ = sockets[0];
    hold->asked_ = 1;
    hold->processes_ = std::move(processes);
    if (error)
        return tl::unexpected(cannot_hold(error));
    if (const auto ready = hold->finish(); !ready)
        return tl::unexpected(ready.error().path.empty() ? cannot_hold(EAGAIN) : ready.error());
    // Descriptors here would outlive those of the helper, which closes them when their process
    // ends.
    for (std::size_t n = 0; n < hold->processes_.size(); n++) {
        Process &process = hold->processes_[n];
        for (Process::Control &control : process.controls)
            control.here = Taken();
        const auto is_of_it = [&](const Call &call) { return call.process == n; };
        if (std::ranges::none_of(all.enable, is_of_it) && std::ranges::none_of(all.set, is_of_it))
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
    std::optional<Error> first;
    const auto fail = [&](Error error) {
        if (!first)
            first = std::move(error);
    };
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
        if (report.not_written)
            fail(not_written(report.not_written));
        else if (!report.there)
            fail({ErrorCode::not_found, ESRCH, "", "the process has ended"});
        else if (report.failed.error || report.failed.status == rm::gpu_is_lost)
            fail({ErrorCode::gone, ENODEV, "", "the GPU has gone, NVIDIA's driver says"});
        else if (report.failed.status)
            fail({ErrorCode::unsupported, EOPNOTSUPP, "",
                  "NVIDIA's driver refuses the change with status " + hex(report.failed.status) +
                      " (nvstatuscodes.h)"});
    }
    if (first)
        return tl::unexpected(std::move(*first));
    states_.erase(states_.begin(), states_.end() - 1);
    return {};
}

/// Called when the helper was killed or hangs. Undoes the changes from this process, and returns
/// the error.
Error Hold::broken() {
    Undone undone;
    if (socket_ >= 0) {
        ::close(std::exchange(socket_, -1));
        undone = undo_here();
    }
    asked_ = 0;
    return {ErrorCode::busy, ECHILD, "",
            "the process that holds the task, nvdebug-keeper, was ended; " +
                (undone.all ? "what it had changed was put back" : undone.left)};
}

Undone Hold::undo_here() {
    std::vector<Call> calls;
    if (std::ranges::any_of(states_, &TaskState::paused))
        calls = calls_.enable;
    for (std::size_t n = 0; n < calls_.set.size(); n++)
        for (const TaskState &state : states_) {
            if (!state.timeslice_ns)
                continue;
            Call &call = calls.emplace_back(calls_.set[n]);
            call.only_while_us = *state.timeslice_ns / 1000;
            std::memcpy(call.params.data(), &before_us_[n], sizeof(std::uint64_t));
        }
    const Undone undone = undo_anew(kernel_, gpu_, processes_, std::move(calls));
    if (undone.all || undone.is_kept)
        entry_.remove();
    return undone;
}

Hold::~Hold() {
    if (socket_ < 0)
        return;
    ::shutdown(socket_, SHUT_WR);
    Undone undone;
    for (;;) {
        pollfd wait{socket_, POLLIN, 0};
        const int came = ::poll(&wait, 1, longest_answer_ms);
        if (came < 0 && errno == EINTR)
            continue;
        Report report{};
        if (came > 0 && ::recv(socket_, &report, sizeof(report), 0) == sizeof(report)) {
            if (!report.last)
                continue; // this report answers an earlier order
            if (!report.failed.ok()) {
                std::vector<Call> left = calls_.enable;
                mark_done(left, report.disabled_left);
                mark_done(calls_.set, report.timeslice_left);
                for (std::size_t n = 0; n < calls_.set.size(); n++)
                    std::memcpy(calls_.set[n].params.data(), &before_us_[n], sizeof(std::uint64_t));
                left.insert(left.end(), calls_.set.begin(), calls_.set.end());
                undone = left_to(report.keeper, pids_of(processes_), left, report.failed);
            }
        } else if (!processes_.empty()) {
            undone = undo_here();
        }
        break;
    }
    ::close(socket_);
    if (!undone.all && report_left_)
        report_left_(undone.left);
}

} // namespace nvdebug::driver
