// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Bounds on response times. The equations, and which of them are not those of the paper:
/// docs/stgm.md.
#pragma once

#include <array>
#include <span>

#include "model.hpp"

namespace stgm {

enum class Method { stgm, tight, printed, mpcp, fmlp, server, federated, timeslice };

struct MethodName {
    const char *name;
    Method method;
};
inline constexpr std::array<MethodName, 8> method_names{{{"stgm", Method::stgm},
                                                         {"stgm-tight", Method::tight},
                                                         {"stgm-printed", Method::printed},
                                                         {"mpcp", Method::mpcp},
                                                         {"fmlp", Method::fmlp},
                                                         {"server", Method::server},
                                                         {"federated", Method::federated},
                                                         {"timeslice", Method::timeslice}}};

/// Which equations are used as the paper prints them: each is too small for some schedule.
struct Printed {
    bool direct_sharing = false; ///< 5: of those that share an SM with the task itself alone
    bool one_copy = false;       ///< 7: one copy of a segment of lower priority
    bool cpu_segments = false;   ///< 8: once for each CPU segment
    bool own_blocking = false;   ///< 9: the task's blocking in the demand of the others
    bool no_waiting = false;     ///< 11, 12: segments of lower priority do not wait
    bool copies_suspend = false; ///< 1, 3: waiting for the copy engine never takes the CPU

    static Printed all() { return {true, true, true, true, true, true}; }
};

struct Options {
    Method method = Method::stgm;
    bool busy = false; ///< tasks spin from the begin of a GPU segment to its end
    bool spin_copies =
        false; ///< they spin while they wait for the copy engine; when busy, they do anyway
    Printed printed = {}; ///< of Method::stgm; Method::printed has all
    // Of Method::timeslice: a turn of a task, what a turn takes beyond that, and changing to the
    // next.
    Time timeslice = 1, turn_extra = 0, turn_switch = 0;
    // Of Method::server.
    Time server_overhead = 0; ///< twice for each request
    std::uint32_t server_core = 0;
};

/// A method that needs to know the SMs of each task: the others serialise kernels, so that each may
/// have all.
bool needs_sms(Method method);

/// Per job.
struct Blocking {
    Time copy = 0;   ///< B^m: others' copies
    Time kernel = 0; ///< B^e: others' kernels, or all that the GPU's lock or server does for others
    Time inversion = 0; ///< B^l: tasks of lower priority on the core
    Time sum() const { return add(add(copy, kernel), inversion); }
};

struct Bound {
    std::optional<Time> response; ///< empty: none within the deadline
    Blocking blocking;
    Time preemption =
        0; ///< by tasks of higher priority; without a response: when the deadline had passed
};

/// Demand on a core that comes again and again.
struct Source {
    Time demand, period, jitter;
};

/// The least W = base + Σ ⌈(W + jitter) / period⌉ demand.
/// @param window_min W counts as this much on the right side at least
/// @param last what W was when it passed the deadline
std::optional<Time> least_response(Time base, std::span<const Source> sources, Time deadline,
                                   Time window_min, Time *last = nullptr);

/// Bounds for the tasks of a model, of which cores and SMs may change.
class Analysis {
  public:
    Analysis(const Model &model, const Options &options);

    /// SMs of a task changed.
    void shared_anew();
    /// The core of a task changed.
    void placed_anew();

    /// Bounds of tasks that share a core, those on no core being taken for others' cores.
    /// @param members by rank
    /// @return all have one. The bounds of those after the first that has none are not looked for.
    bool fits(std::span<const std::size_t> members);
    std::optional<Time> response(std::size_t task) const { return response_[task]; }
    /// @p task of the members has one, whatever those of lower priority have: as line 16 asks.
    bool one_fits(std::span<const std::size_t> members, std::size_t task);

    /// Of the last task that fits() or one_fits() looked at.
    const Bound &last_bound() const { return last_; }
    /// Waits depend on cores of others: placed_anew() is needed after each change.
    bool depends_on_cores() const {
        return spins_ || (options_.busy && (locks_ || options_.method == Method::tight));
    }

    /// Of all tasks; each has a core.
    std::vector<Bound> bounds();

  private:
    struct Waits {
        Time copies = 0, each_copy = 0;    ///< B^m; of one copy
        Time kernels = 0, each_kernel = 0; ///< B^e; of the one that waits longest
        Time demand = 0;                   ///< on those of lower priority, per job
        bool none = false;                 ///< there is no bound
    };

    /// Before a request of the lock that is given by priority.
    struct Requests {
        Time begun = 0; ///< the longest of lower priority
        std::vector<Source> above;
    };

    void wait_for_copies(std::size_t task);
    void wait_for_kernels(std::size_t task);
    Time other_core_copies(std::size_t task) const;
    Time lock_wait_fifo(std::size_t task) const;
    Requests requests_before(std::size_t task) const;
    Time lock_wait_by_priority(std::size_t task, bool *none) const;
    void count_over_job(std::size_t task, Time base, Bound &found);
    Time inversion(std::span<const std::size_t> members, std::size_t at) const;
    Bound bound(std::span<const std::size_t> members, std::size_t at);
    void add_server(std::size_t task, std::vector<Source> &sources) const;
    void withdraw_unproven(std::vector<Bound> &bounds) const;

    const Model &model_;
    Options options_;
    bool locks_, spins_; ///< one lock for the GPU; copies are waited for on the CPU
    bool server_spins_ = false;
    std::vector<Waits> waits_;
    std::vector<Time> kernel_waits_; ///< each_kernel, where it does not depend on cores
    std::vector<std::optional<Time>> response_;
    std::vector<Source> sources_;
    Bound last_;
    Time all_copies_ = 0;            ///< Σ m*
    std::vector<Time> copy_of_core_; ///< longest copy of each core
    Time copies_of_cores_ = 0;       ///< their sum
};

/// Bounds in the order of the set. Its tasks have cores and, where the method needs them, SMs.
std::vector<Bound> analyse(const TaskSet &set, const Options &options);

/// Some task shares an SM with another.
bool shares_sms(const TaskSet &set);

bool schedulable(std::span<const Bound> bounds);

/// What takes most of the bound, or of what passed the deadline: `waiting for kernels of others`.
std::string largest_term(const Numbers &task, const Bound &bound, Method method);

} // namespace stgm
