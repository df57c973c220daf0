// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What is done about launches on one GPU, in processes that nvtaskset started: beside a
/// service those of others are limited, and at its MPS server held while it has a request; and
/// speeds are kept there.
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

/// A process that launches, and what its tenant is to get.
struct Launcher {
    const nvdebug::Process *process;
    std::size_t tenant;
    qos::Goal goal;
    /// It has turns of its own. Processes at an MPS server have not: nothing but their launches
    /// keeps them apart.
    bool has_turns;
    /// What nvtaskset shares with it (nvtaskset::page_of()); nullptr: nothing, it did not start it.
    std::shared_ptr<nvtaskset::Page> page;
};

class Launches {
  public:
    /// Launches of a process that are queued or running at most beside a service: so many that
    /// short kernels still follow each other. It was chosen and not measured.
    static constexpr std::uint32_t in_flight = 4;
    /// The same at its MPS server, where a request waits for all of them. By trial (docs/qos.md).
    static constexpr std::uint32_t in_flight_at_mps = 2;

    /// @param pci_address of the GPU
    /// @param patience what is not renewed for so long ends by itself
    Launches(const std::string &pci_address, std::chrono::milliseconds patience);
    Launches(const Launches &) = delete;
    Launches &operator=(const Launches &) = delete;
    /// Ends all of it.
    ~Launches();

    /// These are all processes of the GPU; those that nvtaskset did not start are left alone. Is to
    /// be called again within a quarter of the patience.
    /// @param divides_tpcs where there is one speed to keep, it has TPCs of its own if that leaves
    /// the others more
    void keep(const std::vector<Launcher> &launchers, bool divides_tpcs);

    /// Of its launches in flight, beside a service; 0: none.
    std::uint32_t limit(std::uint32_t pid) const;
    /// Are its launches counted or held for a speed?
    bool counts(std::uint32_t pid) const;
    /// Can its launches be held, or its requests be seen, as its goal or that of another one needs?
    bool paces(std::uint32_t pid) const;
    /// Of those that keep() was called for: whether something was to be done about its launches,
    /// and the library in it is of an nvtaskset that cannot.
    bool has_old_library(std::uint32_t pid) const;
    /// Of a tenant with a speed that is kept by launches; none: it is another one.
    std::optional<Pace> pace(std::size_t tenant) const;
    /// TPCs of tasks without a goal beside such a tenant; 0: all.
    int tpcs_of_others() const;
    /// Speeds are kept without TPCs, as nvtaskset has kept no map of the GPU's.
    bool lacks_map() const;
    /// Of a service, since it was found; none: nvtaskset did not start it, or not all of it.
    std::optional<Requests> requests(std::size_t tenant) const;

  private:
    /// What is done about a process' launches.
    enum class Role {
        none,
        service, ///< its requests are seen
        behind,  ///< limited beside a service, or held while that has a request
        paced,   ///< counted, and held when it is ahead of its goal
        beside,  ///< held when a paced one is behind its goal
    };
    /// A task of nvtaskset's: processes that share a page.
    struct Task {
        std::shared_ptr<nvtaskset::Page> page;
        bool old_library; ///< it does not even limit launches
        bool paces;       ///< its library holds launches and shows requests
        bool wanted = false;
        Role role = Role::none;
        std::size_t tenant = 0;
        bool has_turns = true;
        /// What was written to its page last, and until when that holds.
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

    /// At an MPS server nothing else keeps it from running beside others.
    static bool can_yield(const Task &task) { return task.paces && !task.has_turns; }
    static std::uint32_t limit_of(const Task &task) {
        return can_yield(task) ? in_flight_at_mps : in_flight;
    }
    static bool is_beside(const Task &task) {
        return task.role == Role::beside || task.role == Role::behind;
    }
    Seen look_at(const Launcher &launcher);
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
    std::vector<std::shared_ptr<nvtaskset::Page>> awaited_pages_; ///< which have these words
    std::atomic<std::uint32_t> changed_{0};
    std::jthread thread_; ///< the last member: it ends before the others
};

} // namespace nvqos
