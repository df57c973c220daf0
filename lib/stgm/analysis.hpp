// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Bounds on response times. docs/stgm-design.md has the equations, and explains which of the
/// paper's are not safe and how they are mended. The terms of each system are in bounds/.
#pragma once

#include <memory>
#include <span>

#include "bound.hpp"
#include "recurrence.hpp"

namespace stgm {

/// Returns true if the method needs to know the SMs of each task. The others serialise kernels, so
/// that each kernel may have all SMs.
bool needs_sms(Method method);

struct Terms;
struct Waits;
class System;

/// Bounds for the tasks of a model. Cores and SMs of tasks may change.
class Analysis {
  public:
    Analysis(const Model &model, const Options &options);
    ~Analysis();

    /// Computes the waits again after SMs of tasks have changed.
    void sms_changed();
    /// Computes the waits again after cores of tasks have changed.
    void cores_changed();

    /// Returns true if each of the tasks on one core has a bound. The tasks after the first that
    /// has none are not looked at. Tasks that have no core yet count as if each had its own.
    /// @param members by rank
    bool fits(std::span<const std::size_t> members);
    std::optional<Time> response(std::size_t task) const { return response_[task]; }
    /// Returns true if @p task, one of the members, has a bound, as line 16 of Algorithm 1 asks.
    /// Tasks of lower priority need none.
    bool one_fits(std::span<const std::size_t> members, std::size_t task);

    /// Returns the bound of the last task that fits() or one_fits() looked at.
    const Bound &last_bound() const { return last_; }
    /// Returns true if waits depend on the cores of other tasks, so that fits() and one_fits() need
    /// a cores_changed() after each change.
    bool depends_on_cores() const;

    /// Returns the bounds of all tasks, each of which has a core.
    std::vector<Bound> bounds();

  private:
    Source preemption(std::size_t above, const Blocking &blocking) const;
    Bound bound(std::span<const std::size_t> members, std::size_t at);
    void withdraw_unproven(std::vector<Bound> &bounds) const;

    const Model &model_;
    std::unique_ptr<Terms> terms_;
    std::unique_ptr<System> system_;
    std::vector<Waits> waits_;
    std::vector<std::optional<Time>> response_;
    std::vector<Source> sources_;
    Bound last_;
};

/// Returns the bounds in the order of the set. Its tasks have cores and, where the method needs
/// them, SMs.
std::vector<Bound> analyse(const TaskSet &set, const Options &options);

/// Returns true if some task shares an SM with another.
bool shares_sms(const TaskSet &set);

bool schedulable(std::span<const Bound> bounds);

/// Names the largest term of the bound, or of the sum that passed the deadline: `waiting for
/// kernels of others`.
std::string largest_term(const Numbers &task, const Bound &bound, Method method);

} // namespace stgm
