// SPDX-License-Identifier: MIT OR GPL-2.0
#include "run.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "command_line.hpp"
#include "desk.hpp"
#include "gpus.hpp"
#include "lib/base/ending_signals.hpp"
#include "lib/base/printable.hpp"
#include "lib/base/task_name.hpp"
#include "metrics.hpp"
#include "report.hpp"
#include "socket.hpp"

namespace nvqos {
namespace {

using qos::Ns;

/// Returns whether all of the text was written.
bool print(const std::string &text) {
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
           std::fflush(stdout) == 0;
}

Outcome<void> write(const std::string &text) {
    if (!print(text))
        return fail(failed, std::string("stdout cannot be written: ") + std::strerror(errno));
    return {};
}

/// Returns whether a line can be written without blocking: goals are kept even if the reader is
/// slow or the terminal is stopped.
bool is_stdout_ready() {
    pollfd out{STDOUT_FILENO, POLLOUT, 0};
    return ::poll(&out, 1, 0) != 0;
}

/// Signals that end the program, and with --file SIGHUP, by which the file is read again: also if
/// SIGHUP is ignored (nohup).
sigset_t signals(const Invocation &invocation) {
    sigset_t set = nvdebug::base::ending_signals({SIGQUIT});
    if (invocation.file)
        sigaddset(&set, SIGHUP);
    return set;
}

/// A warning that a tenant has no process yet, with the likely reason.
std::string sentence_on_nobody(const Tenant &tenant) {
    std::string sentence = nvdebug::base::printable(tenant.name) + ": no task fits yet";
    if (tenant.who.cgroup && nvdebug::base::is_cgroup(*tenant.who.cgroup) == false)
        sentence += fmt::format("; there is no cgroup {} now",
                                nvdebug::base::printable(*tenant.who.cgroup));
    if (tenant.who.command && tenant.who.command->starts_with('/'))
        sentence += "; names of commands mostly have no folder: see 'nvdebugctl task list'";
    return sentence;
}

/// Keeps goals on all GPUs until a signal, the end of --for, or a failure.
class Session {
  public:
    explicit Session(Invocation invocation)
        : invocation_(std::move(invocation)), is_terminal_(isatty(STDOUT_FILENO) == 1) {}
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;
    /// What is over must not look as if it went on.
    ~Session() {
        // All GPUs' tasks, before one of them is waited for.
        for (const auto &warden : wardens_)
            warden->let_go();
        if (has_metrics_)
            ::unlink(invocation_.metrics->c_str());
        if (signals_ >= 0)
            ::close(signals_);
    }

    Outcome<void> start(const nvdebug::Tree &tree) {
        const auto gpus = nvdebug::gpus(tree);
        if (!gpus)
            return fail(gpus.error());
        if (gpus->empty())
            return fail(failed, "NVIDIA's driver has no GPU here");
        const auto meant = numbers_of(invocation_.asked.gpus, *gpus, driver_folder());
        if (!meant)
            return tl::unexpected(meant.error());
        const std::vector<std::uint32_t> &wanted = *meant;
        const sigset_t set = signals(invocation_);
        signals_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
        if (signals_ < 0)
            return fail(failed,
                        std::string("signals cannot be waited for: ") + ::strerrordesc_np(errno));
        if (invocation_.socket) {
            auto socket = Socket::open(*invocation_.socket);
            if (!socket)
                return tl::unexpected(std::move(socket).error());
            socket_ = std::move(*socket);
        }
        // If this program is suspended for three epochs, tasks get back what they had.
        const auto patience =
            std::max<Ns>(qos::second, 3 * invocation_.asked.settings.epoch) / qos::ms;
        for (const nvdebug::Gpu &gpu : *gpus) {
            if (!wanted.empty() && std::ranges::find(wanted, gpu.index()) == wanted.end())
                continue;
            auto warden = Warden::start(gpu, invocation_.asked,
                                        {.dry_run = invocation_.dry_run,
                                         .patience = std::chrono::milliseconds(patience),
                                         .marks = invocation_.dry_run ? nullptr : &marks_},
                                        warn);
            if (!warden)
                return tl::unexpected(
                    Failure{warden.error().exit,
                            fmt::format("gpu{}: {}", gpu.index(), warden.error().sentence)});
            wardens_.push_back(std::move(*warden));
        }
        for (std::size_t n = 0; n < invocation_.asked.tenants.size(); n++)
            if (std::ranges::none_of(wardens_,
                                     [&](const auto &one) { return one->has_tasks_of(n); })) {
                const Tenant &tenant = invocation_.asked.tenants[n];
                if (tenant.who.pid)
                    return fail(
                        failed,
                        fmt::format(
                            "process {} has no GPU context; 'nvdebugctl task list' lists those "
                            "that have one",
                            *tenant.who.pid));
                warn(sentence_on_nobody(tenant));
            }
        for (const Tenant &tenant : invocation_.asked.tenants)
            if (!tenant.note.empty())
                warn(tenant.note);
        return {};
    }

    Outcome<Exit> keep() {
        if (invocation_.dry_run)
            return show_plan();
        if (auto written = write_metrics(); !written)
            return tl::unexpected(written.error());
        const Ns begin = monotonic_now();
        Ns printed = begin;
        std::vector<Report> last(wardens_.size());
        std::vector<bool> has(wardens_.size());
        for (;;) {
            Ns wait = qos::second;
            for (std::size_t n = 0; n < wardens_.size(); n++) {
                auto report = wardens_[n]->step();
                if (!report)
                    return tl::unexpected(Failure{
                        report.error().exit, fmt::format("gpu{}: {}", wardens_[n]->gpu().index(),
                                                         report.error().sentence)});
                if (*report) {
                    if (auto written = print_line(**report); !written)
                        return tl::unexpected(written.error());
                    metrics_.add(**report);
                    last[n] = std::move(**report);
                    has[n] = true;
                }
                wait = std::min(wait, wardens_[n]->wait());
            }
            marks_.send();
            const Ns now = monotonic_now();
            if (now - tended_ >= invocation_.asked.settings.epoch) {
                desk_.tend(now);
                tended_ = now;
            }
            if (now - printed >= invocation_.interval && std::ranges::count(has, false) == 0) {
                if (auto shown = show(last); !shown)
                    return tl::unexpected(shown.error());
                printed = now;
            }
            if (now - metrics_at_ >= qos::second)
                if (auto written = write_metrics(); !written && !has_warned_) {
                    warn(written.error().sentence + "; goals are kept on");
                    has_warned_ = true;
                }
            if (invocation_.length) {
                if (now - begin >= *invocation_.length)
                    return end();
                wait = std::min(wait, *invocation_.length - (now - begin));
            }
            const int signal = wait_for(wait, now);
            if (signal == SIGHUP && invocation_.file)
                read_again();
            else if (signal)
                return end();
        }
    }

  private:
    /// The signal that came within the time; 0: none. Requests are answered meanwhile.
    int wait_for(Ns ns, Ns now) {
        std::vector<pollfd> awaited{{signals_, POLLIN, 0}};
        if (socket_) {
            socket_->add_to(awaited);
            ns = std::min(ns, socket_->wait(now));
        }
        const timespec time{ns / qos::second, ns % qos::second};
        static_cast<void>(::ppoll(awaited.data(), awaited.size(), &time, nullptr));
        signalfd_siginfo signal{};
        if (::read(signals_, &signal, sizeof(signal)) == sizeof(signal))
            return static_cast<int>(signal.ssi_signo);
        if (socket_) {
            const Ns then = monotonic_now();
            socket_->serve(then, [&](const std::string &line) { return desk_.answer(line, then); });
        }
        return 0;
    }

    void read_again() {
        auto asked = goals_of(invocation_);
        if (asked && asked->gpus != invocation_.asked.gpus)
            warn("SIGHUP does not change the GPUs: end nvqos and start it with the new list");
        for (const auto &warden : wardens_) {
            const auto set = asked
                                 ? warden->set_goals(desk_.goals_on(warden->gpu().index(), *asked))
                                 : tl::unexpected(asked.error());
            if (!set) {
                warn(set.error().sentence + "; the goals stay as they were");
                // All GPUs have the same goals.
                for (const auto &other : wardens_)
                    if (asked)
                        other->put_goals(desk_.goals_on(other->gpu().index(), invocation_.asked));
                return;
            }
        }
        invocation_.asked = std::move(*asked);
        metrics_.clear();
    }

    /// If those are wanted.
    Outcome<void> write_metrics() {
        metrics_at_ = monotonic_now();
        if (!invocation_.metrics)
            return {};
        auto written = metrics_.write(*invocation_.metrics);
        has_metrics_ = has_metrics_ || written;
        return written;
    }

    /// Prints a line of JSON with --json.
    Outcome<void> print_line(const Report &report) {
        if (!invocation_.json)
            return {};
        if (!is_stdout_ready()) {
            left_out_++;
            return {};
        }
        return write(json_line(report, invocation_.asked.settings, utc_now(), left_out_));
    }

    /// Prints the table, unless --json or --quiet is given.
    Outcome<void> show(const std::vector<Report> &reports) {
        if (invocation_.json || invocation_.quiet || !is_stdout_ready())
            return {};
        const qos::Settings &settings = invocation_.asked.settings;
        std::string text = is_terminal_ ? "\033[H\033[J" : "";
        text += fmt::format("{}  {}, epochs of {:g} ms\n", utc_now(), text_of(settings.scheme),
                            static_cast<double>(settings.epoch) / static_cast<double>(qos::ms));
        text += table_of(reports);
        for (const Report &report : reports)
            if (report.epoch.overcommitted)
                text += fmt::format("gpu{}: promised parts do not fit any more, and each is cut\n",
                                    report.gpu);
        return write(text + (is_terminal_ ? "Ctrl-C: end, and everything is as before\n" : "\n"));
    }

    Outcome<Exit> show_plan() {
        std::vector<Report> plans;
        for (const auto &warden : wardens_)
            plans.push_back(warden->plan());
        if (invocation_.json) {
            for (const Report &plan : plans)
                if (auto written = write(json_line(plan, invocation_.asked.settings, utc_now(), 0));
                    !written)
                    return tl::unexpected(written.error());
        } else if (auto shown = write(table_of(plans) + "dry run: nothing was changed\n"); !shown) {
            return tl::unexpected(shown.error());
        }
        return done;
    }

    Outcome<Exit> end() {
        std::uint64_t violations = 0;
        for (const auto &warden : wardens_)
            violations += warden->violations();
        std::string waits;
        for (const auto &warden : wardens_)
            for (const std::string &sentence : warden->waits())
                waits += sentence + "\n";
        // Restores all tasks before the last lines are printed; requests are answered no longer.
        socket_.reset();
        wardens_.clear();
        if (!invocation_.json && !invocation_.quiet && is_stdout_ready())
            if (auto written = write(waits); !written)
                return tl::unexpected(written.error());
        if (!violations)
            return done;
        warn(fmt::format("goals were not kept at the end of {} epochs", violations));
        return not_kept;
    }

    Invocation invocation_;
    const bool is_terminal_;
    std::uint64_t left_out_ = 0; ///< lines that were not printed
    Metrics metrics_;
    Ns metrics_at_ = 0;
    bool has_metrics_ = false, has_warned_ = false;
    int signals_ = -1;
    std::unique_ptr<Socket> socket_;
    Ns tended_ = 0;
    Marks marks_{warn};
    Desk::Wardens wardens_;
    Desk desk_{wardens_, invocation_.asked, warn};
};

Outcome<Exit> perform(const std::vector<std::string> &words, const Open &open) {
    if (!words.empty() && words[0] == "__complete") {
        std::string lines;
        for (const std::string &word : completions({words.begin() + 1, words.end()}))
            lines += word + "\n";
        return write(lines).map([] { return done; });
    }
    auto invocation = parse(words);
    if (!invocation)
        return tl::unexpected(std::move(invocation).error());
    if (invocation->what == Invocation::What::help)
        return write(help()).map([] { return done; });
    if (invocation->what == Invocation::What::version)
        return write("nvqos " NVQOS_VERSION "\n").map([] { return done; });
    const ContainerGoal &container = invocation->container;
    if (invocation->what == Invocation::What::write_device) {
        const auto device = write_goal_device(container, invocation->cdi_folder);
        if (!device)
            return tl::unexpected(device.error());
        return write(*device + "\n").map([] { return done; });
    }
    if (invocation->what == Invocation::What::hold_container)
        return hold_container(container).map([] { return done; });
    const auto tree = open();
    if (!tree)
        return fail(tree.error());
    // Blocked before anything is changed, so that no signal ends the program halfway.
    const sigset_t set = signals(*invocation);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    Session session(std::move(*invocation));
    if (auto started = session.start(*tree); !started)
        return tl::unexpected(started.error());
    return session.keep();
}

} // namespace

void warn(const std::string &sentence) {
    std::fprintf(stderr, "nvqos: %s\n", sentence.c_str());
}

Exit run(const std::vector<std::string> &words, const Open &open) {
    const auto status = perform(words, open);
    if (status)
        return *status;
    warn(status.error().sentence);
    return status.error().exit;
}

} // namespace nvqos
