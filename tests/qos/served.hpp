// SPDX-License-Identifier: MIT OR GPL-2.0
// Processes on a simulated GPU behind the stand-in for NVIDIA's driver. Requests to the driver
// decide which task has the GPU, and the driver's record of context switches shows the turns.
#pragma once

#include "tests/driver/steering.hpp"

#include "bursts.hpp"

namespace served {

using qos::Ns;

/// The stand-in has timeslices in microseconds.
inline simulation::Gpus gpus_of_stand_in() {
    simulation::Gpus made = simulated::gpus();
    made.timeslice_unit = qos::us;
    return made;
}

class Served : public driver_test::Steering {
  protected:
    static constexpr std::uint32_t pids[] = {557, 558};

    Served() : sim(gpus) {
        kernel.clock = [this] { return static_cast<std::uint64_t>(begin + sim.now()); };
        for (std::size_t n = 0; n < 2; n++) {
            clients[n == 0 ? first : second] = sim.add();
            pid_of.push_back(pids[n]);
        }
    }

    /// Adds a third process.
    void add_third(std::uint32_t pid, simulated::Bursts bursts) {
        third = kernel.add_process(pid, {instances[4], instances[5]});
        for (auto &[name, object] : kernel.others[third])
            object.timeslice_us = 2000;
        kernel.processes[pid].started = 30;
        kernel.processes[pid].command = "third";
        clients[third] = sim.add(std::move(bursts));
        pid_of.push_back(pid);
    }

    /// Adds another context of a process.
    std::uint32_t add_context(std::uint32_t pid) {
        const std::uint32_t client = kernel.add_process(pid, {instances[4]});
        for (auto &[name, object] : kernel.others[client])
            object.timeslice_us = 2000;
        clients[client] = sim.add(simulated::always());
        pid_of.push_back(pid);
        return client;
    }

    /// Runs the GPU until @p end, with the timeslices and pauses that were requested so far.
    void run_until(Ns end) {
        obey();
        sim.run_until(end);
        std::vector<simulation::Turn> later;
        std::ranges::copy(sim.take_turns(), std::back_inserter(turns_));
        for (const simulation::Turn &turn : turns_) {
            // A switch is recorded when it is over.
            if (!later.empty() || (turn.ends && turn.end + gpus.switching > sim.now())) {
                later.push_back(turn);
                continue;
            }
            if (!open_.contains(turn.tsg))
                kernel.switches.push_back(record(turn.begin, true, turn.tsg));
            if (turn.ends)
                kernel.switches.push_back(record(turn.end, false, turn.tsg));
            turn.ends ? static_cast<void>(open_.erase(turn.tsg))
                      : static_cast<void>(open_.insert(turn.tsg));
        }
        turns_ = std::move(later);
    }

    const simulation::Gpus gpus = gpus_of_stand_in();
    simulation::SharedGpu sim;
    static constexpr Ns begin = 1'000 * qos::second; ///< by the GPU's clock
    static constexpr Ns pause =
        650 * qos::us;        ///< the time that a pause takes (measured on an H100)
    bool pauses_tasks = true; ///< else pauses have no effect
    std::uint32_t third = 0;
    std::map<std::uint32_t, std::size_t>
        clients; ///< the number of each client's task in the simulation
    std::vector<std::uint32_t> pid_of;

  private:
    driver_test::rm::SwitchRecord record(Ns ns, bool starts, std::uint64_t task) const {
        driver_test::rm::SwitchRecord made{};
        made.tag =
            starts ? driver_test::rm::SwitchRecord::starts : driver_test::rm::SwitchRecord::ends;
        made.ns = static_cast<std::uint64_t>(begin + ns);
        made.pid = pid_of[task];
        made.context = static_cast<std::uint32_t>(task + 1);
        return made;
    }

    void obey() {
        using What = simulation::Request::What;
        std::set<std::size_t> begun; // tasks whose pause begins in this call
        const auto all = kernel.changes();
        for (; obeyed_ < all.size(); obeyed_++) {
            const auto &change = all[obeyed_];
            const auto client = clients.find(change.client);
            if (client == clients.end())
                continue;
            const std::size_t task = client->second;
            if (change.command == driver_test::rm::SetTimeslice::command)
                sim.change({task, What::timeslice, static_cast<std::int64_t>(change.value)});
            else if (change.command == driver_test::rm::DisableChannels::command) {
                // A pause takes some time even if it ends at once.
                const bool enabled = disables_.take(change);
                if (enabled && begun.erase(task))
                    sim.run_until(sim.now() + pause);
                if (!enabled && pauses_tasks)
                    begun.insert(task);
                sim.change({task, enabled || !pauses_tasks ? What::resume : What::pause});
            }
        }
    }

    std::vector<simulation::Turn> turns_; ///< whose last switch is not over
    std::size_t obeyed_ = 0;
    driver_test::DisableCounts disables_;
    std::set<std::uint64_t> open_;
};

} // namespace served
