// SPDX-License-Identifier: MIT OR GPL-2.0
#include "session.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <utility>

#include "gpus.hpp"
#include "lib/base/ending_signals.hpp"
#include "lib/base/printable.hpp"
#include "lib/base/process.hpp"
#include "lib/base/task_name.hpp"
#include "refusal.hpp"

namespace nvqos {

sigset_t signals_of(const Invocation &invocation) {
    sigset_t set = nvdebug::base::ending_signals({SIGQUIT});
    if (invocation.file)
        sigaddset(&set, SIGHUP);
    return set;
}

Session::Session(Invocation invocation, bool has_view, const NodeClock &clock)
    : invocation_(std::move(invocation)), has_view_(has_view), clock_(clock),
      pod_names_(invocation_.pod_folders), printer_(invocation_.json    ? Printer::Form::json
                                                    : invocation_.quiet ? Printer::Form::nothing
                                                                        : Printer::Form::table),
      metrics_file_(invocation_.metrics) {}

Session::~Session() {
    end_all();
    if (signals_ >= 0)
        ::close(signals_);
}

Outcome<void> Session::start(const Open &open) {
    const auto tree = open();
    if (!tree)
        // A machine without the driver has no GPU to wait for.
        return tree.error().code == nvdebug::ErrorCode::not_found
                   ? fail(not_supported, tree.error().sentence)
                   : fail(tree.error());
    const auto numbers =
        find_numbers(invocation_.goals.gpus, *tree, open, GpuThread::Options().longest_step, warn_);
    if (!numbers)
        return tl::unexpected(numbers.error());
    const std::size_t count = nvdebug::gpus(*tree)->size();
    const sigset_t set = signals_of(invocation_);
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
    for (const std::uint32_t number : *numbers)
        gpus_.push_back(
            std::make_unique<GpuThread>(number, count, open, invocation_.goals, options(), warn_));
    return wait_for_starts();
}

Outcome<Exit> Session::keep() {
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
        printer_.display().open();
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
            if (auto written = write_metrics();
                !written && !std::exchange(has_warned_of_metrics_, true))
                warn_(written.error().sentence + "; goals are kept on");
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

GpuThread::Options Session::options() {
    // If this program is suspended for three epochs, tasks get back what they had.
    const auto patience = std::max<Ns>(qos::second, 3 * invocation_.goals.settings.epoch) / qos::ms;
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

Outcome<void> Session::wait_for_starts() {
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

Outcome<void> Session::check_tasks() const {
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

void Session::look_at_clock(Ns now) {
    if (!clock_.look(now))
        return;
    gangs_->set_clock(clock_.verdict().is_usable);
    if (need_clock(last_))
        warn_(text_of(clock_.verdict()));
}

void Session::take(Report report) {
    note_other_gpus(report, last_);
    name_pods(report);
    printer_.print_line(report, invocation_.goals.settings);
    metrics_file_.metrics().add(report);
    last_[report.gpu] = std::move(report);
}

void Session::name_pods(Report &report) {
    for (TenantReport &tenant : report.tenants)
        for (TasksInContainer &one : tenant.containers)
            one.name = pod_names_.find(one.id);
}

bool Session::have_all_reported() const {
    return !last_.empty() && std::ranges::all_of(gpus_, [&](const auto &gpu) {
        return !gpu->is_up() || last_.contains(gpu->index());
    });
}

int Session::wait_for(Ns ns, Ns now) {
    std::vector<pollfd> awaited{{signals_, POLLIN, 0}, {bell_->descriptor(), POLLIN, 0}};
    if (socket_) {
        socket_->add_to(awaited, now);
        ns = std::min(ns, socket_->wait(now));
    }
    printer_.display().add_to(awaited);
    const timespec time{ns / qos::second, ns % qos::second};
    static_cast<void>(::ppoll(awaited.data(), awaited.size(), &time, nullptr));
    bell_->answer();
    signalfd_siginfo signal{};
    if (::read(signals_, &signal, sizeof(signal)) == sizeof(signal))
        return static_cast<int>(signal.ssi_signo);
    if (const int from_terminal = printer_.display().take_events())
        return from_terminal;
    if (socket_) {
        const Ns then = monotonic_now();
        socket_->serve(then, [&](const std::string &line) { return requests_.answer(line, then); });
        tell_changes(then);
    }
    return 0;
}

void Session::listen_for_marks() {
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

void Session::tell_changes(Ns now) {
    if (socket_)
        socket_->tell(requests_.take_changes(socket_->watchers() > 0), now);
}

void Session::read_again() {
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
    metrics_file_.metrics().clear();
}

Outcome<void> Session::write_metrics() {
    metrics_at_ = monotonic_now();
    Metrics &metrics = metrics_file_.metrics();
    for (const auto &gpu : gpus_)
        metrics.set_up(gpu->index(), gpu->is_up());
    metrics.set_clock(need_clock(last_) ? std::optional(clock_.verdict()) : std::nullopt);
    return metrics_file_.write();
}

void Session::show() {
    if (!printer_.prints_tables())
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
    printer_.show(std::move(shown));
}

Outcome<Exit> Session::show_plan() {
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
        text += invocation_.json ? json_line(plan, invocation_.goals.settings, utc_now(), 0) : "";
    }
    std::vector<std::string> notes = gangs_among(all, clock_.verdict());
    notes.emplace_back("dry run: nothing was changed");
    if (!invocation_.json)
        text = text_of({"", std::move(shown), std::move(notes)}, width_of_stdout());
    return write(text).map([&] { return status; });
}

void Session::end_all() {
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

Outcome<Exit> Session::end() {
    // No request is answered from now on. The next nvqos holds the tenants again.
    requests_.save();
    socket_.reset();
    printer_.display().close();
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
        if (const std::string outage = gpu->outage(); !outage.empty()) {
            was_out = true;
            warn_(fmt::format("gpu{}: {}", gpu->index(), outage));
        }
        was_kept = was_kept || gpu->was_up();
    }
    gpus_.clear();
    printer_.print_waits(waits);
    constexpr std::size_t most = 20;
    for (std::size_t n = 0; n < std::min(missed.size(), most); n++)
        warn_(missed[n]);
    if (missed.size() > most)
        warn_(fmt::format("{} more goals were not kept, or could not be seen, at the end of some "
                          "epochs; --json has each epoch",
                          missed.size() - most));
    return !was_kept ? failed : was_missed || was_out ? partial : done;
}

} // namespace nvqos
