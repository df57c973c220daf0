// SPDX-License-Identifier: MIT OR GPL-2.0
#include "run.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fmt/format.h>
#include <map>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <utility>

#include "command_line.hpp"
#include "demo.hpp"
#include "display.hpp"
#include "gpus.hpp"
#include "lib/base/ending_signals.hpp"
#include "lib/base/inherited.hpp"
#include "lib/base/pod_name_thread.hpp"
#include "lib/base/printable.hpp"
#include "lib/base/process.hpp"
#include "lib/base/task_name.hpp"
#include "lib/cli/main.hpp"
#include "metrics.hpp"
#include "refusal.hpp"
#include "report.hpp"
#include "simulate.hpp"
#include "tools/nvqos/advise/advise.hpp"
#include "tools/nvqos/keep/bell.hpp"
#include "tools/nvqos/keep/conductor.hpp"
#include "tools/nvqos/serve/ask.hpp"
#include "tools/nvqos/serve/mark_listener.hpp"
#include "tools/nvqos/serve/request_handler.hpp"
#include "tools/nvqos/serve/socket.hpp"

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

/// Returns the signals that end the program, and with --file also SIGHUP, which has the file read
/// again even where SIGHUP is ignored (nohup).
sigset_t signals(const Invocation &invocation) {
    sigset_t set = nvdebug::base::ending_signals({SIGQUIT});
    if (invocation.file)
        sigaddset(&set, SIGHUP);
    return set;
}

/// Keeps goals on all GPUs until a signal or the end of --for.
class Session {
  public:
    Session(Invocation invocation, bool has_view, const NodeClock &clock)
        : invocation_(std::move(invocation)), has_view_(has_view), clock_(clock),
          pod_names_(invocation_.pod_folders) {}
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;
    /// Removes the file of metrics, which would look as if goals were still kept.
    ~Session() {
        end_all();
        if (has_metrics_)
            ::unlink(invocation_.metrics->c_str());
        if (signals_ >= 0)
            ::close(signals_);
    }

    Outcome<void> start(const Open &open) {
        const auto listed = list_gpus(open);
        if (!listed)
            return tl::unexpected(listed.error());
        const std::size_t count = *listed;
        const auto found =
            find_numbers(invocation_.goals.gpus, count, open, GpuThread::Options().longest_step);
        if (!found)
            return tl::unexpected(found.error());
        const std::vector<std::uint32_t> &wanted = *found;
        const sigset_t set = signals(invocation_);
        signals_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
        if (signals_ < 0)
            return fail(failed,
                        std::string("signals cannot be waited for: ") + ::strerrordesc_np(errno));
        if (invocation_.decisions) {
            auto decisions = Decisions::open(*invocation_.decisions, warn_);
            if (!decisions)
                return tl::unexpected(std::move(decisions).error());
            decisions_ = std::move(*decisions);
        }
        if (invocation_.socket) {
            auto socket = Socket::open(*invocation_.socket);
            if (!socket)
                return tl::unexpected(std::move(socket).error());
            socket_ = std::move(*socket);
            engine_marks_ = std::make_shared<EngineMarks>();
        }
        if (!invocation_.dry_run)
            gangs_ = std::make_shared<GangBoard>();
        for (std::uint32_t number = 0; number < count; number++)
            if (wanted.empty() || std::ranges::find(wanted, number) != wanted.end())
                gpus_.push_back(std::make_unique<GpuThread>(number, count, open, invocation_.goals,
                                                            options(), warn_));
        return wait_for_starts();
    }

    Outcome<Exit> keep() {
        if (invocation_.dry_run)
            return show_plan();
        if (auto written = write_metrics(); !written)
            return tl::unexpected(written.error());
        for (const auto &gpu : gpus_)
            gpu->go();
        gangs_->set_clock(clock_.verdict().is_usable);
        conductor_.emplace(gpus_, gangs_, clock_.clock());
        if (socket_)
            requests_.keep_in(*invocation_.socket + ".tenants", monotonic_now());
        listen_for_marks();
        if (has_view_)
            display_.open();
        const Ns begin = monotonic_now();
        Ns printed = begin;
        for (;;) {
            for (const auto &gpu : gpus_) {
                for (Report &report : gpu->take_reports())
                    take(std::move(report));
                gpu->watch();
                if (!gpu->is_up())
                    last_.erase(gpu->index());
            }
            marks_->send();
            const Ns now = monotonic_now();
            const Ns epoch = invocation_.goals.settings.epoch;
            if (now - tended_ >= epoch) {
                requests_.tend(now);
                tended_ = now;
                look_at_clock(now);
                tell_changes(now);
            }
            if (now - printed >= invocation_.interval && have_all_reported()) {
                show();
                printed = now;
            }
            if (now - metrics_at_ >= qos::second)
                if (auto written = write_metrics(); !written)
                    warn_once(has_warned_of_metrics_, written.error().sentence);
            Ns wait = std::min(qos::second, std::max<Ns>(0, tended_ + epoch - now));
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
    static Outcome<std::size_t> list_gpus(const Open &open) {
        const auto tree = open();
        if (!tree) {
            // A machine without the driver has no GPU to wait for.
            const auto failure = fail(tree.error());
            return tree.error().code == nvdebug::ErrorCode::not_found
                       ? fail(not_supported, tree.error().sentence)
                       : failure;
        }
        const auto gpus = nvdebug::gpus(*tree);
        if (!gpus)
            return fail(gpus.error());
        if (gpus->empty())
            return fail(not_supported, "NVIDIA's driver has no GPU here");
        return gpus->size();
    }

    GpuThread::Options options() {
        // If this program is suspended for three epochs, tasks get back what they had.
        const auto patience =
            std::max<Ns>(qos::second, 3 * invocation_.goals.settings.epoch) / qos::ms;
        GpuThread::Options made;
        made.gpu_goals.dry_run = invocation_.dry_run;
        made.gpu_goals.patience = std::chrono::milliseconds(patience);
        made.gpu_goals.plan = plan_;
        made.gpu_goals.gangs = gangs_;
        made.gpu_goals.engine_marks = engine_marks_;
        made.gpu_goals.decisions = decisions_;
        if (!invocation_.dry_run)
            made.marks = marks_;
        made.wake = [bell = bell_] { bell->ring(); };
        return made;
    }

    /// Waits for the first start on each GPU. No task is changed before all have started, so that
    /// goals which one GPU refuses are refused on all.
    Outcome<void> wait_for_starts() {
        const auto until = std::chrono::steady_clock::now() + GpuThread::Options().longest_step;
        for (const auto &gpu : gpus_)
            static_cast<void>(gpu->wait_for_start(until));
        std::optional<Failure> never; // the reason if goals can never be kept on any GPU
        bool may_come = false;
        for (const auto &gpu : gpus_) {
            const auto why = gpu->why_out();
            const Failure failure =
                why ? Failure{why->exit, fmt::format("gpu{}: {}", gpu->index(), why->sentence),
                              why->ends_all}
                    : Failure{done, ""};
            if (failure.ends_all)
                return tl::unexpected(failure);
            if (failure.exit == not_supported || failure.exit == refused)
                never = never.value_or(failure);
            else
                may_come = true;
        }
        if (!may_come && never)
            return tl::unexpected(*never);
        return check_tasks();
    }

    /// Warns of tenants without a task. Fails if a process that is named has no task, unless a GPU
    /// is left out on which it may have one.
    Outcome<void> check_tasks() const {
        const auto &tenants = invocation_.goals.tenants;
        std::vector<bool> has(tenants.size());
        bool all_told = true;
        for (const auto &gpu : gpus_) {
            const auto on_gpu = gpu->has_tasks();
            all_told = all_told && on_gpu;
            for (std::size_t n = 0; on_gpu && n < has.size(); n++)
                has[n] = has[n] || (*on_gpu)[n];
        }
        for (std::size_t n = 0; n < tenants.size(); n++) {
            if (has[n])
                continue;
            if (tenants[n].who.pid && all_told) {
                const bool lives = nvdebug::base::state_of(*tenants[n].who.pid).has_value();
                return fail(bad_usage,
                            fmt::format("{}process {}{}; 'nvdebugctl task list' lists those that "
                                        "have a GPU context",
                                        lives ? "" : "there is no ", *tenants[n].who.pid,
                                        lives ? " has no GPU context" : ""));
            }
            warn_(sentence_on_nobody(tenants[n]));
        }
        for (const Tenant &tenant : tenants)
            if (!tenant.note.empty())
                warn_(tenant.note);
        for (const std::string &sentence : conditions_of(invocation_.goals))
            warn_(sentence);
        // A dry run prints it with the plan.
        if (!invocation_.dry_run && std::ranges::count(tenants, Gang::nodes, &Tenant::gang) > 0)
            warn_(text_of(clock_.verdict()));
        return {};
    }

    /// Has windows go by the clock only as long as it agrees with those of other nodes.
    void look_at_clock(Ns now) {
        if (!clock_.look(now))
            return;
        gangs_->set_clock(clock_.verdict().is_usable);
        if (need_clock(last_))
            warn_(text_of(clock_.verdict()));
    }

    void take(Report report) {
        note_other_gpus(report, last_);
        name_pods(report);
        print_line(report);
        metrics_.add(report);
        last_[report.gpu] = std::move(report);
    }

    /// Adds the names of pods that are known. Those of new pods come with a later report.
    void name_pods(Report &report) {
        for (TenantReport &tenant : report.tenants)
            for (TasksInContainer &one : tenant.containers)
                one.name = pod_names_.find(one.id);
    }

    bool have_all_reported() const {
        return !last_.empty() && std::ranges::all_of(gpus_, [&](const auto &gpu) {
            return !gpu->is_up() || last_.contains(gpu->index());
        });
    }

    /// Waits, and answers requests. Returns the signal that came within the time; 0: none.
    int wait_for(Ns ns, Ns now) {
        std::vector<pollfd> awaited{{signals_, POLLIN, 0}, {bell_->descriptor(), POLLIN, 0}};
        if (socket_) {
            socket_->add_to(awaited, now);
            ns = std::min(ns, socket_->wait(now));
        }
        display_.add_to(awaited);
        const timespec time{ns / qos::second, ns % qos::second};
        static_cast<void>(::ppoll(awaited.data(), awaited.size(), &time, nullptr));
        bell_->answer();
        signalfd_siginfo signal{};
        if (::read(signals_, &signal, sizeof(signal)) == sizeof(signal))
            return static_cast<int>(signal.ssi_signo);
        if (const int from_terminal = display_.take_events())
            return from_terminal;
        if (socket_) {
            const Ns then = monotonic_now();
            socket_->serve(then,
                           [&](const std::string &line) { return requests_.answer(line, then); });
            tell_changes(then);
        }
        return 0;
    }

    /// Takes marks of engines beside the socket.
    void listen_for_marks() {
        if (!socket_)
            return;
        const std::string path = *invocation_.socket + ".marks";
        mark_listener_.emplace(path, engine_marks_, [this] {
            for (const auto &gpu : gpus_)
                gpu->wake();
        });
        if (!mark_listener_->is_open())
            warn_(nvdebug::base::printable(path) +
                  ": engines cannot mark there that they are busy; goals are kept without marks");
    }

    void tell_changes(Ns now) {
        if (socket_)
            socket_->tell(requests_.take_changes(socket_->watchers() > 0), now);
    }

    void read_again() {
        auto goals = goals_of(invocation_);
        if (goals && goals->gpus != invocation_.goals.gpus)
            warn_("SIGHUP does not change the GPUs: end nvqos and start it with the new list");
        if (const auto no_clash = goals ? requests_.expect_no_clash(*goals) : Outcome<void>();
            !no_clash)
            goals = tl::unexpected(no_clash.error());
        for (const auto &gpu : gpus_) {
            const auto set = goals ? gpu->set_goals(requests_.goals_on(gpu->index(), *goals))
                                   : tl::unexpected(goals.error());
            if (!set) {
                warn_(set.error().sentence + "; the goals stay as they were");
                // Put the old goals back on the GPUs that have the new ones.
                for (const auto &other : gpus_)
                    if (goals)
                        other->put_goals(requests_.goals_on(other->index(), invocation_.goals));
                return;
            }
        }
        for (const std::string &sentence : conditions_of(*goals))
            warn_(sentence);
        invocation_.goals = std::move(*goals);
        metrics_.clear();
    }

    /// Writes the file of metrics, if --metrics is given.
    Outcome<void> write_metrics() {
        metrics_at_ = monotonic_now();
        if (!invocation_.metrics)
            return {};
        for (const auto &gpu : gpus_)
            metrics_.set_up(gpu->index(), gpu->is_up());
        metrics_.set_clock(need_clock(last_) ? std::optional(clock_.verdict()) : std::nullopt);
        auto written = metrics_.write(*invocation_.metrics);
        has_metrics_ = has_metrics_ || written;
        return written;
    }

    void warn_once(bool &has_warned, const std::string &sentence) const {
        if (!std::exchange(has_warned, true))
            warn_(sentence + "; goals are kept on");
    }

    /// Prints the text. If that fails, it warns once, and goals are kept on.
    void print_on(const std::string &text) {
        if (auto written = write(text); !written)
            warn_once(has_warned_of_stdout_, written.error().sentence);
    }

    /// Prints a line of JSON with --json.
    void print_line(const Report &report) {
        if (!invocation_.json)
            return;
        if (is_stdout_ready())
            print_on(json_line(report, invocation_.goals.settings, utc_now(), left_out_));
        else
            left_out_++;
    }

    /// Shows the table in place, or prints it, unless --json or --quiet is given.
    void show() {
        if (invocation_.json || invocation_.quiet || !is_stdout_ready())
            return;
        const qos::Settings &settings = invocation_.goals.settings;
        Shown shown{fmt::format("{}  {}, epochs of {:g} ms", utc_now(), text_of(settings.scheme),
                                qos::milliseconds(settings.epoch)),
                    {}};
        for (const auto &[gpu, report] : last_)
            shown.epochs.push_back(epoch_json(report, settings, "", 0));
        shown.notes = notes_on(last_, clock_.verdict());
        for (const auto &gpu : gpus_)
            if (const auto why = gpu->why_out())
                shown.notes.push_back(fmt::format("gpu{}: left out since {}: {}", gpu->index(),
                                                  gpu->out_since(), why->sentence));
        if (display_.is_open())
            display_.draw(std::move(shown));
        else
            print_on(text_of(shown, width_of_stdout()) + "\n");
    }

    Outcome<Exit> show_plan() {
        std::vector<Report> plans;
        Exit status = done;
        for (const auto &gpu : gpus_) {
            if (auto plan = gpu->plan()) {
                plans.push_back(std::move(*plan));
                continue;
            }
            const auto why = gpu->why_out();
            warn_(fmt::format("gpu{}: {}; the GPU is left out", gpu->index(),
                              why ? why->sentence : "the driver does not answer"));
            status = partial;
        }
        if (plans.empty())
            status = failed;
        std::string text;
        std::vector<Json> shown;
        std::map<std::uint32_t, Report> all;
        for (Report &plan : plans) {
            all.emplace(plan.gpu, plan);
            name_pods(plan);
        }
        pod_names_.wait(std::chrono::milliseconds(500));
        for (Report &plan : plans) {
            note_other_gpus(plan, all);
            name_pods(plan);
            shown.push_back(epoch_json(plan, invocation_.goals.settings, "", 0));
            text +=
                invocation_.json ? json_line(plan, invocation_.goals.settings, utc_now(), 0) : "";
        }
        std::vector<std::string> notes = gangs_among(all, clock_.verdict());
        notes.emplace_back("dry run: nothing was changed");
        if (!invocation_.json)
            text = text_of({"", std::move(shown), std::move(notes)}, width_of_stdout());
        return write(text).map([&] { return status; });
    }

    /// Restores all tasks. All GPUs begin with that before the first one is waited for.
    void end_all() {
        mark_listener_.reset();
        conductor_.reset();
        for (const auto &gpu : gpus_)
            gpu->begin_end();
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
        for (const auto &gpu : gpus_)
            if (!gpu->end(until))
                warn_(fmt::format("gpu{}: the driver does not answer; the keepers of its tasks "
                                  "restore them",
                                  gpu->index()));
        if (decisions_)
            decisions_->finish();
    }

    Outcome<Exit> end() {
        // No request is answered from now on. The next nvqos holds the tenants again.
        requests_.save();
        socket_.reset();
        display_.close();
        end_all();
        std::vector<std::string> missed;
        std::string waits;
        bool was_out = false, was_kept = false, was_missed = false;
        for (const auto &gpu : gpus_) {
            for (const Missed &one : gpu->missed()) {
                missed.push_back(fmt::format("gpu{}: {}", gpu->index(), text_of(one)));
                was_missed = was_missed || is_too_often(one);
            }
            for (const std::string &sentence : gpu->waits())
                waits += sentence + "\n";
            was_out = was_out || gpu->was_out();
            was_kept = was_kept || gpu->was_up();
        }
        gpus_.clear();
        if (!invocation_.json && !invocation_.quiet && is_stdout_ready())
            print_on(waits);
        constexpr std::size_t most = 20;
        for (std::size_t n = 0; n < std::min(missed.size(), most); n++)
            warn_(missed[n]);
        if (missed.size() > most)
            warn_(
                fmt::format("{} more goals were not kept, or could not be seen, at the end of some "
                            "epochs; --json has each epoch",
                            missed.size() - most));
        return !was_kept ? failed : was_missed || was_out ? partial : done;
    }

    Invocation invocation_;
    const bool has_view_;
    ClockJudge clock_;
    nvdebug::base::PodNameThread pod_names_;
    Display display_;
    const Warn warn_ = [messages = display_.messages()](const std::string &sentence) {
        messages->say(sentence);
    };
    const std::shared_ptr<const Bell> bell_ = std::make_shared<Bell>();
    std::uint64_t left_out_ = 0; ///< lines that were not printed
    Metrics metrics_;
    Ns metrics_at_ = 0;
    bool has_metrics_ = false, has_warned_of_metrics_ = false, has_warned_of_stdout_ = false;
    int signals_ = -1;
    std::unique_ptr<Socket> socket_;
    Ns tended_ = 0;
    std::shared_ptr<Decisions> decisions_; ///< null: none are recorded
    const std::shared_ptr<MachinePlan> plan_ = std::make_shared<MachinePlan>();
    const std::shared_ptr<Marks> marks_ = std::make_shared<Marks>(warn_);
    std::map<std::uint32_t, Report> last_; ///< by number of each GPU on which goals are kept
    std::shared_ptr<GangBoard> gangs_;     ///< null with --dry-run
    RequestHandler::Gpus gpus_;
    std::optional<Conductor> conductor_;        ///< ends before the threads of the GPUs
    std::shared_ptr<EngineMarks> engine_marks_; ///< null: no engine can mark anything
    std::optional<MarkListener> mark_listener_; ///< ends before the threads of the GPUs
    RequestHandler requests_{gpus_, invocation_.goals, last_, clock_, warn_};
};

Outcome<Exit> perform(const nvdebug::cli::Arguments &arguments, const Open &open,
                      const NodeClock &clock) {
    auto invocation = read(arguments);
    if (!invocation)
        return tl::unexpected(std::move(invocation).error());
    const ContainerGoal &container = invocation->container;
    if (invocation->what == Invocation::What::write_device) {
        const auto device = write_goal_device(container, invocation->cdi_folder);
        if (!device)
            return tl::unexpected(device.error());
        return write(*device + "\n").map([] { return done; });
    }
    if (invocation->what == Invocation::What::hold_container)
        return hold_container(container).map([] { return done; });
    // Goals that do not fit with one task for each tenant fit on no GPU, so the driver is not
    // needed to refuse them.
    if (const auto refusals = refusals_of(invocation->goals); !refusals.empty())
        return fail(refused, refusals.front());
    if (invocation->what == Invocation::What::demo)
        return demonstrate(*invocation);
    if (invocation->metrics && !invocation->metrics->ends_with(".prom"))
        warn("--metrics " + nvdebug::base::printable(*invocation->metrics) +
             ": node_exporter reads only files that end with .prom; use such a name for it");
    nvdebug::base::raise_file_limit();
    // The signals are blocked before any task is changed, so that none ends the program halfway.
    const sigset_t set = signals(*invocation), of_screen = nvdebug::live::Screen::signals();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    const bool has_view =
        !invocation->json && !invocation->quiet && !invocation->dry_run && Display::is_possible();
    if (has_view)
        pthread_sigmask(SIG_BLOCK, &of_screen, nullptr);
    Session session(std::move(*invocation), has_view, clock);
    if (auto started = session.start(open); !started)
        return tl::unexpected(started.error());
    return session.keep();
}

} // namespace

Exit run(const std::vector<std::string> &words, const Open &open, const NodeClock &clock) {
    // A container without privileges has a cgroup namespace of its own, with other paths than those
    // in goals and requests.
    if (!nvdebug::base::has_first_cgroup_namespace())
        nvdebug::base::enter_cgroup_namespace_of_init();
    return static_cast<Exit>(
        nvdebug::cli::run(program(), words, [&](const nvdebug::cli::Parsed &parsed) -> int {
            const std::string verb = parsed.verb ? parsed.verb->name : "";
            const auto status = verb == "status"     ? print_status(parsed.arguments)
                                : verb == "list"     ? print_list(parsed.arguments)
                                : verb == "simulate" ? simulate(parsed.arguments)
                                : verb == "advise"   ? advise(parsed.arguments, open)
                                                     : perform(parsed.arguments, open, clock);
            return status ? *status
                          : nvdebug::cli::refuse(program(), parsed.json, status.error().exit,
                                                 status.error().sentence);
        }));
}

} // namespace nvqos
