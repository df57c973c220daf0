// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file One GPU that a program steers by itself, where Machine runs a whole scenario. The program
/// lets time pass, and in between it adds and stops tasks, gives them work, and asks for timeslices
/// and pauses. Host decides over the turns.
#pragma once

#include <functional>

#include "requests.hpp"

namespace simulation {

/// Work that a task gets at one time. It is added to earlier work that is left.
struct TimedWork {
    Ns at;
    Ns work; ///< never: it does not end
};

/// Returns the next burst of a task, in the order of time; empty: there are no more.
/// @param now a burst before this comes now
using Bursts = std::function<std::optional<TimedWork>(Ns now)>;

class SharedGpu {
  public:
    /// A time with the GPU, and with work.
    struct Span {
        Ns begin, end;
    };

    explicit SharedGpu(const Gpus &gpus) : host_(gpus), requests_(gpus.request) {}

    Ns now() const { return now_; }
    std::size_t size() const { return tasks_.size(); } ///< tasks that were added

    /// Adds a task at the end of Host's list. Returns its number, which turns have as their TSG.
    std::size_t add(Bursts bursts = nullptr);
    /// Gives a task other bursts from now on. Work that it has already stays.
    void set_bursts(std::size_t task, Bursts bursts);
    /// Takes all work from a task. It may get bursts again.
    void stop(std::size_t task);

    /// Asks the driver for a change. It takes effect after all earlier changes.
    void ask(const Request &request) { requests_.add(request, now_); }
    /// Makes a change at once.
    void change(const Request &request) { serve(request, host_, request.task, now_); }

    /// Lets time pass. The next call does the work that is due at @p end itself.
    void run_until(Ns end);
    /// Returns the turns since the last call, with the part up to now of the turn that goes on.
    std::vector<Turn> take_turns();

    Ns used(std::size_t task) const;
    /// Returns all times of a task with the GPU.
    const std::vector<Span> &spans(std::size_t task) const { return tasks_[task].spans; }

  private:
    struct Task {
        Bursts bursts;
        std::optional<TimedWork> next; ///< of them
        Ns work = 0;
        std::vector<Span> spans = {};
    };

    Ns due() const;
    void pass(Ns until);
    void add_work();
    void set_work(std::size_t task, Ns work);

    Host host_;
    Requests requests_;
    std::vector<Task> tasks_;
    Ns now_ = 0;
};

} // namespace simulation
