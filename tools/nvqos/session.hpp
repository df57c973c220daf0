// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A run of nvqos: its GPUs, its socket and its output, until a signal comes.
#pragma once

#include <csignal>
#include <map>
#include <memory>
#include <optional>

#include "command_line.hpp"
#include "lib/base/pod_name_thread.hpp"
#include "metrics_file.hpp"
#include "printer.hpp"
#include "tools/nvqos/keep/bell.hpp"
#include "tools/nvqos/keep/conductor.hpp"
#include "tools/nvqos/serve/mark_listener.hpp"
#include "tools/nvqos/serve/request_handler.hpp"
#include "tools/nvqos/serve/socket.hpp"

namespace nvqos {

/// Returns the signals that end the program, and with --file also SIGHUP, which has the file read
/// again even where SIGHUP is ignored (nohup).
sigset_t signals_of(const Invocation &invocation);

/// Keeps goals on all GPUs until a signal or the end of --for. The thread that has it waits for
/// signals, clients, keys and reports; each GPU has a thread of its own.
class Session {
  public:
    /// The caller has blocked signals_of(@p invocation) in all threads.
    /// @param has_view the table is shown in place, on a terminal
    Session(Invocation invocation, bool has_view, const NodeClock &clock);
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;
    /// Restores all tasks.
    ~Session();

    /// Starts the threads of the GPUs. Fails if goals can be kept on none of them.
    Outcome<void> start(const Open &open);
    /// Keeps the goals, or with --dry-run prints the plan. Returns the exit status.
    Outcome<Exit> keep();

  private:
    using Ns = qos::Ns;

    GpuThread::Options options();
    /// Waits for the first start on each GPU. No task is changed before all have started, so that
    /// goals which one GPU refuses are refused on all.
    Outcome<void> wait_for_starts();
    /// Warns of tenants without a task. Fails if a process that is named has no task, unless a GPU
    /// is left out on which it may have one.
    Outcome<void> check_tasks() const;
    /// Has windows go by the clock only as long as it agrees with those of other nodes.
    void look_at_clock(Ns now);
    void take(Report report);
    /// Adds the names of pods that are known. Those of new pods come with a later report.
    void name_pods(Report &report);
    bool have_all_reported() const;
    /// Waits, and answers requests. Returns the signal that came within the time; 0: none.
    int wait_for(Ns ns, Ns now);
    /// Takes marks of engines beside the socket.
    void listen_for_marks();
    void tell_changes(Ns now);
    void read_again();
    Outcome<void> write_metrics();
    /// Shows the table in place, or prints it, unless --json or --quiet is given.
    void show();
    Outcome<Exit> show_plan();
    /// Restores all tasks. All GPUs begin with that before the first one is waited for.
    void end_all();
    Outcome<Exit> end();

    Invocation invocation_;
    const bool has_view_;
    ClockJudge clock_;
    nvdebug::base::PodNameThread pod_names_;
    Printer printer_;
    const Warn warn_ = [messages = printer_.display().messages()](const std::string &sentence) {
        messages->say(sentence);
    };
    const std::shared_ptr<const Bell> bell_ = std::make_shared<Bell>();
    MetricsFile metrics_file_;
    Ns metrics_at_ = 0;
    bool has_warned_of_metrics_ = false;
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

} // namespace nvqos
