// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Limits and holds launches on one GPU, in processes that nvtaskset started. Beside a
/// service the launches of other tasks are limited. At the service's MPS server they are held while
/// it has a request, and speeds are kept there (pacing.hpp).
///
/// nvtaskset's library in each task reads its limit from a page that it shares with this program.
/// What is written there is a lease: it ends by itself if nvqos does. A thread of its own renews
/// the leases, and reads launches and requests from the pages.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "lib/partition/gpu_map.hpp"
#include "lib/partition/page.hpp"
#include "lib/qos/goal.hpp"
#include "nvdebug/owner.hpp"
#include "pacing.hpp"
#include "services.hpp"

namespace nvqos {

/// A process that launches, and its tenant's goal.
struct Launcher {
    const nvdebug::Process *process;
    std::size_t tenant;
    qos::Goal goal;
    /// Whether the process has turns of its own. Processes at an MPS server have none, so nothing
    /// but their launches keeps them apart.
    bool has_turns;
    /// The page that nvtaskset shares with it (nvtaskset::page_of()); nullptr: nvtaskset did not
    /// start it.
    std::shared_ptr<nvtaskset::Page> page;
};

class Launches {
  public:
    /// At most so many launches of a process are queued or running beside a service, which is
    /// enough for short kernels to follow each other. The number was chosen and not measured.
    static constexpr std::uint32_t in_flight = 4;
    /// The limit at the service's MPS server, where a request waits for all launches. It was found
    /// by trial (docs/qos-measured.md).
    static constexpr std::uint32_t in_flight_at_mps = 2;

    /// @param pci_address of the GPU
    /// @param patience the length of a lease, after which it ends by itself
    Launches(const std::string &pci_address, std::chrono::milliseconds patience);
    Launches(const Launches &) = delete;
    Launches &operator=(const Launches &) = delete;
    /// Ends all leases.
    ~Launches();

    /// Keeps the goals of these processes, which are all of the GPU. Processes that nvtaskset did
    /// not start are left alone. Is to be called again within a quarter of the patience.
    /// @param divides_tpcs if there is one speed to keep, its tenant gets TPCs of its own where
    /// that leaves the others more
    void keep(const std::vector<Launcher> &launchers, bool divides_tpcs);

    /// Returns the limit of its launches in flight beside a service; 0: none.
    std::uint32_t limit(std::uint32_t pid) const;
    /// Returns whether its launches are counted or held for a speed.
    bool counts(std::uint32_t pid) const;
    /// Returns whether its launches can be held, or its requests be seen, as some goal needs it.
    bool paces(std::uint32_t pid) const;
    /// Returns whether the library in it is of an earlier nvtaskset, which cannot limit launches.
    bool has_old_library(std::uint32_t pid) const;
    /// Returns the pace of a tenant; none: no speed of it is kept by launches.
    std::optional<Pace> pace(std::size_t tenant) const;
    /// Returns how many TPCs tasks without a goal have beside such a tenant; 0: all.
    int tpcs_of_others() const;
    /// Returns whether TPCs are to be divided and cannot be, because nvtaskset has no map of them.
    bool lacks_map() const;
    /// Returns the requests of a service since it was found; none: nvtaskset did not start all of
    /// its processes.
    std::optional<Requests> requests(std::size_t tenant) const;

  private:
    /// How the launches of a task are treated.
    enum class Role {
        none,
        service, ///< its requests are read
        behind,  ///< limited beside a service, or held while the service has a request
        paced,   ///< counted, and held when it is ahead of its goal
        beside,  ///< held when a paced task is behind its goal
    };
    /// A task that nvtaskset started: processes that share a page.
    struct Task {
        std::shared_ptr<nvtaskset::Page> page;
        bool old_library; ///< it does not even limit launches
        bool paces;       ///< its library holds launches and shows requests
        bool wanted = false;
        Role role = Role::none;
        std::size_t tenant = 0;
        bool has_turns = true;
        /// The leases that were written to its page last.
        struct {
            std::uint32_t value = 0;
            std::uint64_t until_us = 0;
        } demand = {};
        struct {
            int tpcs = 0; ///< of MaskLease; 0: none
            std::uint64_t until_us = 0;
        } mask = {};
        LaunchCount count = {};
        RequestsRead requests = {}; ///< of a service
    };
    struct Seen {
        std::optional<std::uint64_t> started; ///< of the process; the pid may be reused
        ino_t page = 0;                       ///< 0: nvtaskset did not start it
        bool wanted = false;
    };

    /// Returns whether its launches are to be held for others. A task with turns of its own does
    /// not run beside others.
    static bool can_yield(const Task &task) { return task.paces && !task.has_turns; }
    static std::uint32_t limit_of(const Task &task) {
        return can_yield(task) ? in_flight_at_mps : in_flight;
    }
    static bool is_beside(const Task &task) {
        return task.role == Role::beside || task.role == Role::behind;
    }
    Seen find_task(const Launcher &launcher);
    const Task *task_of(std::uint32_t pid) const;
    void end(const Task &task) const;
    void assign(const std::vector<Launcher> &launchers, bool divides_tpcs);
    void run(const std::stop_token &stop);
    std::chrono::microseconds act();
    bool has_request(Task &task, std::uint64_t now);
    void count(Task &task, std::uint64_t now);
    void pace(std::uint64_t now);
    void divide_tpcs(std::uint64_t now);
    std::uint32_t demand_of(const Task &task, bool has_request) const;

    const std::optional<nvtaskset::Uuid> gpu_;
    const std::chrono::microseconds length_; ///< of a lease

    mutable std::mutex mutex_;           ///< of all that follows, up to awaited_pages_
    std::map<std::uint32_t, Seen> seen_; ///< by pid
    std::map<ino_t, Task> tasks_;
    std::uint64_t kept_at_us_ = 0; ///< when keep() was called last
    Services services_;
    Pacing pacing_;
    std::optional<nvtaskset::GpuMap> map_; ///< of TPCs that are divided
    /// The words for whose change the thread waits, with the values that it has seen.
    std::vector<std::pair<const std::atomic<std::uint32_t> *, std::uint32_t>> awaited_;
    std::vector<std::shared_ptr<nvtaskset::Page>> awaited_pages_; ///< the pages with these words
    std::atomic<std::uint32_t> changed_{0};
    std::jthread thread_; ///< the last member: it ends before the others
};

} // namespace nvqos
