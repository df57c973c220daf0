// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file nvqos' own control: a qos::Governor for each GPU, driven as nvqos drives it on hardware
/// (tools/nvqos/keep/gpu_goals.hpp). A job is a tenant. nvqos runs from the beginning on.
#pragma once

#include <functional>
#include <map>

#include "controller.hpp"
#include "lib/qos/asking.hpp"
#include "lib/qos/why_not.hpp"
#include "measures.hpp"

namespace simulation {

/// Keeps the goals of the jobs on one GPU.
class Keeper {
  public:
    /// Is called at the end of each epoch, before the levers of the next one are applied.
    using OnEpoch = std::function<void(const qos::EpochRecord &, const qos::Governor &)>;

    /// @param goals by tenant
    Keeper(std::size_t gpu, const std::vector<qos::Goal> &goals, const qos::Settings &settings = {},
           OnEpoch on_epoch = nullptr);

    /// @param task is on this GPU, and the tenant's
    void add_task(std::size_t task, std::size_t tenant) { tasks_[task].tenant = tenant; }
    Ns due() const;
    void step(Ns now, Driver &driver);
    void served(const Request &request, Ns now);
    /// Returns in how many epochs that ended after a second the goal of each tenant was missed.
    const std::vector<std::size_t> &missed() const { return missed_; }
    /// Returns, for a tenant, the reasons that nvqos gives at the ends of epochs.
    const std::vector<Reason> &reasons(std::size_t tenant) const { return reasons_[tenant]; }

  private:
    /// A task is unknown until it has had a turn. Then it is searched for, and after that it is
    /// held, which takes two looks.
    enum class Known { no, found, held, gone };
    struct HeldTask {
        std::size_t tenant = 0;
        Known known = Known::no;
        bool has_turns = false;
        std::optional<Ns> timeslice = {}; ///< that was asked for
        bool is_asked = false, paused = false;
        Ns asked_at = 0;
        std::optional<Ns> paused_since = {};
    };

    void read(Driver &driver);
    bool take_found();
    void begin_search(Ns now);
    bool is_searching() const { return looking_ || holding_; }
    void count_tsgs();
    void note(const qos::EpochRecord &epoch);
    void apply(Ns now, Driver &driver);
    void ask(std::size_t number, HeldTask &task, const qos::Lever &lever, Driver &driver);

    const std::size_t gpu_;
    const OnEpoch on_epoch_;
    const bool sets_timeslices_;
    const std::vector<qos::Goal> goals_; ///< by tenant
    qos::Governor governor_;
    std::map<std::size_t, HeldTask> tasks_;    ///< by their numbers
    std::vector<std::size_t> missed_;          ///< by tenant
    std::vector<std::vector<Reason>> reasons_; ///< by tenant
    qos::PauseTime pause_time_;
    bool look_needed_ = false, looking_ = false, holding_ = false;
    Ns looked_at_ = 0;
    Ns now_ = 0;            ///< the last step
    Ns due_ = never;        ///< when step() was to be called at last
    std::size_t asked_ = 0; ///< requests that are not served yet
};

class Governed : public Controller {
  public:
    explicit Governed(const Scenario &scenario) : scenario_(scenario) {}

    void begin(const std::vector<Task> &tasks) override;
    Ns due() const override;
    void step(Ns now, Driver &driver) override;
    void served(const Request &request, Ns now) override;
    const std::vector<Keeper> &keepers() const { return keepers_; }
    /// Adds RankUse::reasons to what the run has shown.
    void add_reasons(Measures &seen) const;

  private:
    const Scenario &scenario_;
    std::vector<Keeper> keepers_;   ///< by GPU
    std::vector<std::size_t> gpus_; ///< by task
};

} // namespace simulation
