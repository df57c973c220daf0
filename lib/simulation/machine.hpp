// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The GPUs of all nodes and the jobs on them, in virtual time.
#pragma once

#include "agenda.hpp"
#include "controller.hpp"
#include "measures.hpp"
#include "observer.hpp"
#include "rank.hpp"

namespace simulation {

/// Runs the scenario once. The same scenario gives the same measures on each machine.
class Machine : Driver {
  public:
    /// @param scenario outlives the machine. With a duration of 0 nothing is measured but the times
    /// that take_times() returns.
    /// @param controller null: nothing is changed
    /// @param observer is called during the run; may be null
    Machine(const Scenario &scenario, Controller *controller, Observer *observer = nullptr);
    ~Machine() override = default;
    Machine(const Machine &) = delete;
    Machine &operator=(const Machine &) = delete;

    Measures run();
    /// Runs all events before @p end, which may be later than the scenario's duration.
    void run_until(Ns end);
    /// Returns the times of the job's passes that ended since the last call.
    std::vector<Ns> take_times(std::size_t job);

  private:
    struct Member { ///< a rank, with its place on its GPU
        std::size_t job, rank, gpu, tsg;
        Rank process;
        bool had_work;            ///< Host knows
        bool was_serving = false; ///< as an engine
        Ns serving_since = 0;
        /// Since then it has had work and not its GPU; empty: it has its GPU, or no work.
        std::optional<Ns> waits_since = {};
    };
    struct Gpu {
        explicit Gpu(Host one) : host(std::move(one)) {}
        Host host;
        std::vector<std::size_t> members; ///< by TSG
        std::optional<std::size_t> progressing, holder;
        Ns since = 0;                       ///< of holder
        std::optional<std::size_t> working; ///< the TSG whose work progresses
        Ns working_since = 0;
        std::size_t serving = 0; ///< engines that have requests
        Ns free_since = 0;       ///< if none has
        std::vector<Turn> turns; ///< for the controller
        /// When the turn began of which the controller has taken a part; empty: it has none.
        std::optional<Ns> split_turn_begin = {};
    };
    struct Group { ///< of the ranks of a job
        Collectives collectives;
        Arrivals arrivals;
        std::optional<Engine> engine;
        std::vector<std::size_t> members; ///< by rank
        std::size_t on_gpus = 0;          ///< ranks that have their GPUs
        Ns since = 0;                     ///< of on_gpus
        std::size_t passes = 0;           ///< that ended on all ranks
        Ns last_end = never;              ///< of a pass
    };

    std::vector<Turn> take_turns(std::size_t gpu) override;
    bool is_alive(std::size_t task) const override;
    void ask(const Request &request) override;

    void add_job(std::size_t job);
    void take_next();
    void advance(std::size_t member);
    void settle();
    void sync(std::size_t gpu);
    void change_holder(std::size_t gpu, std::optional<std::size_t> holder);
    void count_on_gpus(std::size_t job, bool more);
    Ns free_time(const Gpu &gpu, Ns since) const;
    void count_free(Gpu &gpu);
    void change_serving(Member &member);
    void count_served(Member &member);
    void count_serving(const Member &member);
    void count_passes(std::size_t job);
    void end_collective(std::size_t job);
    void serve(std::size_t node);
    void kill();
    void finish_turn(std::size_t gpu, const Turn &turn);
    void finish_wait(Member &member, bool whole);
    void change_working(std::size_t gpu, std::optional<std::size_t> working);
    void finish();

    static RankPlace place_of(const Member &member) {
        return {member.gpu, member.job, member.rank};
    }
    std::size_t job_slot(std::size_t job) const { return members_.size() + job; }
    std::size_t host_slot(std::size_t gpu) const { return job_slot(groups_.size()) + gpu; }
    std::size_t driver_slot(std::size_t node) const { return host_slot(gpus_.size()) + node; }
    std::size_t kill_slot() const { return driver_slot(requests_.size()); }
    std::size_t controller_slot() const { return kill_slot() + 1; }

    const Scenario &scenario_;
    Controller *const controller_;
    Observer *const observer_;
    Ns now_ = 0;
    std::deque<Group> groups_;    ///< by job; ranks refer to them
    std::vector<Member> members_; ///< a controller's tasks
    std::vector<Gpu> gpus_;
    std::vector<Kill> kills_;         ///< the last is the next
    std::vector<Requests> requests_;  ///< by node
    std::deque<std::size_t> awaited_; ///< members that may have to go on now
    Measures measures_;
    std::optional<Agenda> agenda_;
};

} // namespace simulation
