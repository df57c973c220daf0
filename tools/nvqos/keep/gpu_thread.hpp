// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file One GPU of those on which goals are kept, with a thread of its own. A GPU that is lost,
/// asleep, in MIG mode or slow to answer is left out and tried again, and costs the others nothing.
///
/// The thread opens the driver, starts a GpuGoals and calls its step() until that fails. Then it
/// closes all of that, so that the GPU can sleep or be reset, and begins anew after a while. Other
/// threads never touch the GpuGoals: they hand functions to its thread, and wait for the answers for
/// a bounded time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gpu_goals.hpp"
#include "tools/nvqos/gpus.hpp"

namespace nvqos {

class GpuThread {
  public:
    struct Options {
        GpuGoals::Options gpu_goals = {};
        /// Those of Options::gpu_goals, which stay while the thread does; may be null.
        std::shared_ptr<Marks> marks = {};
        /// From one try to start a GpuGoals to the next.
        std::chrono::milliseconds between_tries{10'000};
        /// A step, or a start, that takes longer: the GPU is left out until it is over.
        std::chrono::milliseconds longest_step{10'000};
        /// For the answer to a question of another thread; after that the GPU is left out, too.
        std::chrono::milliseconds longest_answer{2'000};
        /// Called in the thread when there is a report, or is_up() may have changed.
        std::function<void()> wake = [] {};
    };

    /// Begins to start a GpuGoals.
    /// @param gpu is the number of one of the @p gpus that the driver lists now
    /// @param warn, open are called in the thread, too
    GpuThread(std::uint32_t gpu, std::size_t gpus, Open open, const Goals &goals, Options options,
              Warn warn);
    GpuThread(const GpuThread &) = delete;
    GpuThread &operator=(const GpuThread &) = delete;
    /// As end(), with a second's wait.
    ~GpuThread();

    std::uint32_t index() const { return index_; }
    /// GpuFacts::address is empty until the driver has told it.
    GpuFacts facts() const;

    /// Waits until the first start is over. False: it takes longer.
    bool wait_for_start(std::chrono::steady_clock::time_point until) const;
    /// From now on steps are made. Until then nothing is changed; later no start fails because
    /// goals cannot be kept together.
    void go();

    /// Are goals kept on it now?
    bool is_up() const;
    /// Was it left out, or were goals kept on it, at any time?
    bool was_out() const;
    bool was_up() const;
    /// Why it is left out; empty: it is not, or its first start goes on.
    std::optional<Failure> why_out() const;
    /// Returns since when it is left out, UTC; empty: it is not.
    std::string out_since() const;
    /// Warns of a step that takes too long. To be called now and then.
    void watch();

    /// As GpuGoals::set_goals(). Of a GPU that is left out: fails if the goals cannot be kept there
    /// with one task for each tenant, and has them when it is back.
    Outcome<void> set_goals(const Goals &goals);
    /// As GpuGoals::put_goals(). A GPU that is left out has them when it is back.
    void put_goals(const Goals &goals);
    /// As GpuGoals::assign_tenants().
    void assign_tenants();

    // Of a GPU that is left out they return nothing.
    std::vector<FamilyUse> uses() const;
    std::optional<Report> plan() const;
    /// By tenant: has it tasks?
    std::optional<std::vector<bool>> has_tasks() const;
    /// Those for which GpuGoals::has_unheld_tasks_in() is true.
    std::vector<std::shared_ptr<Family>>
    unheld_among(std::vector<std::shared_ptr<Family>> families) const;

    /// The epochs that ended since the last call; the oldest ones are dropped if there are many.
    std::vector<Report> take_reports();

    /// Restores all tasks without waiting for it.
    void begin_end();
    /// Waits until begin_end() is done. False: it takes longer, and the GPU is left to its keepers.
    bool end(std::chrono::steady_clock::time_point until);
    /// After end(): GpuGoals::missed() of all its Wardens.
    std::vector<Missed> missed() const;
    /// After end(): GpuGoals::waits().
    std::vector<std::string> waits() const;

  private:
    struct Shared;
    static void run(const std::shared_ptr<Shared> &shared);
    template <typename T>
    std::optional<T> ask(std::function<T(GpuGoals &)> question) const;

    const std::uint32_t index_;
    const std::shared_ptr<Shared> shared_; ///< the thread has it, too, and may outlive this object
    std::thread thread_;
};

} // namespace nvqos
