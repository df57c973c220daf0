// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Keeps the goals on one GPU in a thread of its own. A GPU that is lost, asleep, in MIG mode
/// or slow to answer is left out and tried again, and costs the others nothing.
///
/// The thread opens the driver, starts a GpuGoals and calls its step() until that fails. Then it
/// closes all of that, so that the GPU can sleep or be reset, and begins again after a while. Other
/// threads never touch the GpuGoals: they hand functions to its thread, and wait for the answers
/// for a bounded time.
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
        /// The object behind GpuGoals::Options::marks, for as long as the thread lives; may be
        /// null.
        std::shared_ptr<Marks> marks = {};
        /// The pause between two tries to start a GpuGoals.
        std::chrono::milliseconds between_tries{10'000};
        /// A GPU is left out while one step, or a start, takes longer than this.
        std::chrono::milliseconds longest_step{10'000};
        /// A GPU is left out, too, if its thread does not answer another thread within this time.
        std::chrono::milliseconds longest_answer{2'000};
        /// The thread calls it when there is a report, or is_up() may have changed.
        std::function<void()> wake = [] {};
    };

    /// Begins to start a GpuGoals.
    /// @param gpu is the number of one of the @p gpus that the driver lists now
    /// @param warn, open are also called in the thread
    GpuThread(std::uint32_t gpu, std::size_t gpus, Open open, const Goals &goals, Options options,
              Warn warn);
    GpuThread(const GpuThread &) = delete;
    GpuThread &operator=(const GpuThread &) = delete;
    /// Ends as begin_end() and end(), and waits a second at most.
    ~GpuThread();

    std::uint32_t index() const { return index_; }
    /// Returns the names of the GPU. GpuFacts::address is empty until the driver has returned it.
    GpuFacts facts() const;

    /// Waits until the first start is over. Returns false if it takes longer.
    bool wait_for_start(std::chrono::steady_clock::time_point until) const;
    /// Permits steps. Until then no task is changed, and after that no start fails because goals
    /// cannot be kept together.
    void go();
    /// Makes the next step now, and waits for nothing.
    void wake();

    /// Returns whether goals are kept on it now.
    bool is_up() const;
    /// Returns whether goals were kept on it at any time.
    bool was_up() const;
    /// Returns a sentence on the last time that it was left out; empty: it never was.
    std::string outage() const;
    /// Returns why it is left out; empty: it is not, or its first start goes on.
    std::optional<Failure> why_out() const;
    /// Returns since when it is left out, UTC; empty: it is not.
    std::string out_since() const;
    /// Leaves the GPU out, with a warning, if a step takes too long. Is to be called now and then.
    void watch();

    /// Calls GpuGoals::set_goals(). For a GPU that is left out it fails if the goals cannot be kept
    /// with one task for each tenant; otherwise the GPU has them when it is back.
    Outcome<void> set_goals(const Goals &goals);
    /// Calls GpuGoals::put_goals(). A GPU that is left out has the goals when it is back.
    void put_goals(const Goals &goals);
    /// Calls GpuGoals::assign_tenants(), and waits for nothing.
    void assign_tenants();

    /// Has the thread call a function, with nullptr if the GPU is left out, and does not wait for it.
    /// The next step is no earlier because of that. After the end it may not be called.
    void post(std::function<void(GpuGoals *)> job);

    // The following four return nothing for a GPU that is left out.
    std::vector<FamilyUse> uses() const;
    std::optional<Report> plan() const;
    /// Returns by tenant whether it has tasks.
    std::optional<std::vector<bool>> has_tasks() const;
    /// Returns the families for which GpuGoals::has_unheld_tasks_in() is true.
    std::vector<std::shared_ptr<Family>>
    unheld_among(std::vector<std::shared_ptr<Family>> families) const;

    /// Returns the epochs that ended since the last call. The oldest are dropped if there are many.
    std::vector<Report> take_reports();

    /// Has the thread restore all tasks, and does not wait for it.
    void begin_end();
    /// Waits until begin_end() is done. Returns false if it takes longer; the GPU is then left to
    /// its keepers.
    bool end(std::chrono::steady_clock::time_point until);
    /// Returns, after end(), GpuGoals::missed() of all starts together.
    std::vector<Missed> missed() const;
    /// Returns, after end(), GpuGoals::waits() of the last start.
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
