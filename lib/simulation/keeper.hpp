// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file nvqos' own control of one GPU: a qos::Governor, driven as nvqos drives it on hardware
/// (tools/nvqos/keep/gpu_goals.hpp). A job is a tenant.
#pragma once

#include <functional>
#include <map>
#include <utility>

#include "controller.hpp"
#include "lib/qos/asking.hpp"
#include "lib/qos/gangs.hpp"
#include "lib/qos/why_not.hpp"
#include "measures.hpp"

namespace simulation {

/// A turn that was read, or a part of one.
struct ReadTurn {
    Turn turn;
    bool gave_way; ///< it ended before its timeslice was over, and no change of levers ended it
};

/// Keeps the goals of the jobs on one GPU.
class Keeper {
  public:
    /// Is called at the end of each epoch, before the levers of the next one are applied.
    using OnEpoch = std::function<void(const qos::EpochRecord &, const qos::Governor &)>;

    /// @param goals by tenant
    Keeper(std::size_t gpu, const std::vector<qos::Goal> &goals, const qos::Settings &settings = {},
           OnEpoch on_epoch = nullptr);

    /// @param task is on this GPU, and the tenant's
    /// @param timeslice of the task at the start
    void add_task(std::size_t task, std::size_t tenant, Ns timeslice);
    /// Notes that the tenant has tasks on other GPUs that need each other.
    void set_spans(std::size_t tenant) { governor_.set_spans(tenant, true); }
    Ns due() const;
    void step(Ns now, Driver &driver);
    /// Notes a mark of a process: it has requests now, or has none any more.
    void marked(std::size_t task, bool busy, Ns now);
    void served(const Request &request, Ns now);
    /// Rests the governor while windows decide over timeslices and pauses (carry()). After
    /// that a new governor begins, which owes nothing.
    void set_carried(bool carried, Ns now);
    /// Reads the turns until now. take_recent() has them, too, after keep_turns() was called.
    void read(Driver &driver);
    void keep_turns() { keeps_turns_ = true; }
    std::vector<ReadTurn> take_recent() { return std::exchange(recent_, {}); }
    /// Asks for the lever of a task that is held, as far as it is not in effect.
    void carry(std::size_t task, const qos::WindowLever &lever, Driver &driver);
    /// Returns the task's timeslice as it was asked for, and else the one that it began with.
    Ns timeslice(std::size_t task) const;
    /// Returns the timeslice that the task began with.
    Ns first_timeslice(std::size_t task) const { return tasks_.at(task).first_timeslice; }
    /// Returns the tasks that are held, by their numbers.
    std::vector<std::size_t> held() const;
    /// Lets go of tasks after the ends of their processes.
    void drop_dead(const Driver &driver);
    /// Returns whether the governor's goals need timeslices.
    bool sets_timeslices() const { return sets_timeslices_; }
    bool has_open_requests() const { return asked_ > 0; }
    /// Returns at the end of how many epochs the tenant's goal was missed.
    std::size_t missed(std::size_t tenant) const;
    /// Returns the verdicts on a tenant's goal at the ends of epochs. There are none of the time in
    /// which the governor rests.
    const std::vector<Verdict> &verdicts(std::size_t tenant) const { return verdicts_[tenant]; }

  private:
    /// A task is unknown until it has had a turn. Then it is searched for, and after that it is
    /// held, which takes two looks.
    enum class Known { no, found, held, gone };
    struct HeldTask {
        std::size_t tenant = 0;
        Known known = Known::no;
        bool has_turns = false;
        Ns first_timeslice = 0;
        std::optional<Ns> timeslice = {}; ///< that was asked for
        bool is_asked = false, paused = false;
        Ns asked_at = 0;
        std::optional<Ns> paused_since = {};
        std::optional<Ns> turn_begin = {}; ///< of the turn that goes on
    };

    bool take_found();
    void begin_search(Ns now);
    bool is_searching() const { return looking_ || holding_; }
    void count_tsgs();
    void note(const qos::EpochRecord &epoch);
    void apply(Ns now, Driver &driver);
    void ask(std::size_t number, HeldTask &task, const qos::Lever &lever, Driver &driver);
    bool gives_way(HeldTask &task, const Turn &turn) const;
    void send(const Request &request, Driver &driver);

    const std::size_t gpu_;
    const OnEpoch on_epoch_;
    const bool sets_timeslices_;
    const std::vector<qos::Goal> goals_; ///< by tenant
    qos::Governor governor_;
    std::map<std::size_t, HeldTask> tasks_;      ///< by their numbers
    std::vector<std::vector<Verdict>> verdicts_; ///< by tenant
    qos::PauseTime pause_time_;
    bool is_marked_ = false; ///< since the last step
    bool look_needed_ = false, looking_ = false, holding_ = false;
    Ns looked_at_ = 0;
    Ns now_ = 0;            ///< the last step, or when its last request was served
    Ns stepped_at_ = 0;     ///< the last step
    Ns due_ = never;        ///< when step() was to be called at last
    std::size_t asked_ = 0; ///< requests that are not served yet
    Ns served_at_ = 0;      ///< the last request
    bool is_carried_ = false, keeps_turns_ = false;
    std::vector<ReadTurn> recent_;
};

} // namespace simulation
