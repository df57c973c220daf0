// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The border between the simulated GPUs and what controls them.
#pragma once

#include "requests.hpp"

namespace simulation {

/// A rank of a job as a controller knows it.
struct Task {
    std::size_t job, gpu;
};

/// NVIDIA's driver, to a controller.
class Driver {
  public:
    virtual ~Driver() = default;
    /// Returns the turns on a GPU since the last call, with the part up to now of the turn that
    /// goes on. Turn::tsg is the task.
    virtual std::vector<Turn> take_turns(std::size_t gpu) = 0;
    virtual bool is_alive(std::size_t task) const = 0;
    /// Asks for a change. Requests are served in their order, one at a time for all
    /// GPUs of a node.
    virtual void ask(const Request &request) = 0;
};

/// Decides over timeslices and pauses. It sees turns and the time, and nothing of jobs.
class Controller {
  public:
    virtual ~Controller() = default;
    /// Is called once before the run.
    virtual void begin(const std::vector<Task> &tasks) = 0;
    /// Returns when step() is to be called; never: not before a request is served.
    virtual Ns due() const = 0;
    virtual void step(Ns now, Driver &driver) = 0;
    /// Is called when a task marks that it has requests now, or has none any more.
    virtual void marked([[maybe_unused]] std::size_t task, [[maybe_unused]] bool busy,
                        [[maybe_unused]] Ns now) {}
    /// Is called when a request was served: it is in effect now.
    virtual void served(const Request &request, Ns now) = 0;
};

} // namespace simulation
