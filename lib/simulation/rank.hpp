// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A rank of a job: a process that launches work ahead of its GPU.
///
/// The CPU takes the items of the program in order. It launches kernels and collectives, and waits
/// for the GPU before each item of Item::Kind::think and at the end of the program. The GPU takes
/// what was launched in the same order. A collective without Item::overlap keeps the GPU from later
/// items, and the collectives of a rank follow each other. All that the GPU has, and a collective
/// that waits for other ranks, is work for Host.
#pragma once

#include <deque>

#include "collective.hpp"
#include "engine.hpp"

namespace simulation {

class Rank {
  public:
    /// What is given has to outlive the rank.
    /// @param engine that all ranks of the job are; null: it is none
    Rank(const Scenario &scenario, std::size_t job, std::size_t rank, Collectives &collectives,
         Arrivals &arrivals, Engine *engine = nullptr);

    /// Does all that is due until @p now.
    /// @param progresses does its work progress from now on? Host::progressing()
    void advance(Ns now, bool progresses);
    /// Returns when advance() is to be called; and when a collective ends (Collectives::end()).
    Ns due() const;
    /// Ends the process. Other ranks may then wait for good.
    void kill(Ns now);

    bool has_work() const { return head_ < launched_ || !collectives_.empty(); }
    bool is_alive() const { return state_ != State::dead; }
    std::size_t passes() const { return passes_; } ///< that have ended
    /// Returns whether an engine has a request; false for a job of another kind.
    bool is_serving() const;
    std::vector<ServedRequest> take_served();

  private:
    enum class State { waits, works, dead }; ///< of the CPU: before a pass, in one

    bool go_on_with_collectives(Ns now);
    bool go_on_with_gpu();
    bool go_on_with_cpu(Ns now);
    bool is_over(const Item &item);
    Ns next_pass() const;
    bool leads() const { return rank_ == 0; }
    const Program &program() const { return engine_ ? step_ : program_; }
    Ns cpu_time(Ns time);

    const Job &job_;
    const Program &program_; ///< unless it is an engine
    const std::size_t rank_;
    const Part kernel_jitter_;
    Collectives &all_;
    Arrivals &arrivals_;
    Random cpu_random_, kernel_random_;

    Engine *const engine_;
    Program step_; ///< of an engine: the present step

    State state_ = State::waits;
    Ns started_at_;
    Ns now_ = 0;              ///< the last call of advance()
    bool progresses_ = false; ///< since then
    std::size_t passes_ = 0;

    std::size_t cpu_at_ = 0; ///< the item that the CPU is at
    Ns cpu_busy_until_ = never;
    std::int64_t pass_normal_ = 0; ///< Random::normal() for all of the CPU's times of the pass

    std::size_t launched_ = 0; ///< so many items of the program
    std::size_t head_ = 0;     ///< the item that the GPU is at
    bool is_head_begun_ = false;
    Ns kernel_left_ = never; ///< of the kernel that was begun

    std::deque<const Item *> collectives_; ///< that the GPU has come to
    bool runs_collective_ = false;         ///< the first of them was begun
};

} // namespace simulation
