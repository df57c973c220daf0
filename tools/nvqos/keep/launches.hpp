// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What is done about launches on one GPU, in processes that nvtaskset started: beside a
/// service those of others are limited, and at its MPS server held while it has a request; and
/// speeds are kept there.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "lib/partition/gpu_map.hpp"
#include "lib/partition/page.hpp"
#include "lib/qos/division.hpp"
#include "lib/qos/pacer.hpp"
#include "lib/qos/waits.hpp"
#include "nvdebug/owner.hpp"

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

/// What a service's requests took: from the first launch until the program has waited for the last.
struct Requests {
    qos::Waits took = {};     ///< all of them
    std::uint64_t recent = 0; ///< of the last second
    std::uint64_t late = 0;   ///< of these, those that took longer than its goal
};

/// What is known of a tenant by its launches.
struct Pace {
    std::optional<qos::Part> speed; ///< of the last second with work, as a part of that alone
    double alone_per_s = 0;         ///< launches a second when alone; 0: not known
    int tpcs = 0;                   ///< that it has for itself; 0: it has all, as the others
    bool operator==(const Pace &) const = default;
};

class Launches {
  public:
    /// Launches of a process that are queued or running at most beside a service: so many that
    /// short kernels still follow each other. It was chosen and not measured.
    static constexpr std::uint32_t in_flight = 4;
    /// The same at its MPS server, where a request waits for all of them. By trial (docs/qos-measured.md).
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
        bool is_drained = true; ///< nothing runs that it launched
        // As it was written last:
        std::uint32_t demand = 0;
        std::uint64_t until_us = 0;
        int tpcs = 0; ///< of MaskLease; 0: none
        std::uint64_t mask_until_us = 0;
        std::optional<qos::Launched> last = {}; ///< of the page
        std::uint64_t gone = 0; ///< launches that have ended, or will, without being seen to
        std::uint64_t launched_at_us = 0; ///< when it was seen to launch, or to be held
        // Of a service:
        std::uint32_t begun = 0, finished = 0; ///< requests that were seen
        std::uint32_t lost = 0;                ///< requests without an end
        std::uint64_t begun_at_us = 0;
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
    bool holds_others() const;
    std::uint32_t demand_of(const Task &task, bool has_request) const;
    std::size_t number_of(std::size_t tenant) const;

    const std::optional<nvtaskset::Uuid> gpu_;
    const std::chrono::microseconds length_;

    mutable std::mutex mutex_;
    std::map<std::uint32_t, Seen> seen_; ///< by pid
    std::map<ino_t, Task> tasks_;
    std::uint64_t kept_at_us_ = 0;   ///< keep() was called last
    std::vector<std::size_t> paced_; ///< tenants, in the order of the pacer
    std::vector<qos::Part> goals_;   ///< of them
    bool divides_tpcs_ = false;
    std::vector<qos::Launched> launched_;
    std::optional<qos::Pacer> pacer_; ///< if there are any
    std::optional<nvtaskset::GpuMap> map_;
    std::optional<qos::Division> division_; ///< if there is one, and a map
    std::uint64_t others_ended_ = 0;        ///< launches of its neighbours
    struct Service {
        std::size_t processes = 0, seen = 0; ///< those with a page that shows requests
        qos::Waits took = {};
        qos::Ns p99 = 0; ///< its goal
        std::deque<std::pair<std::uint64_t, qos::Ns>> recent =
            {}; ///< when each ended, and its time
    };
    std::map<std::size_t, Service> services_; ///< by tenant
    /// What the thread waits for a change of, with the values that it has seen.
    std::vector<std::pair<const std::atomic<std::uint32_t> *, std::uint32_t>> awaited_;
    std::vector<std::shared_ptr<nvtaskset::Page>> awaited_pages_; ///< which they are in
    std::atomic<std::uint32_t> changed_{0};
    std::jthread thread_; ///< the last member: it ends before the others
};

} // namespace nvqos
