// SPDX-License-Identifier: MIT OR GPL-2.0
// Processes on a simulated GPU behind the stand-in for NVIDIA's driver. Requests to the driver
// decide which task has the GPU, and the driver's record of context switches shows the turns.
#pragma once

#include "tests/driver/steering.hpp"

#include "simulated_gpu.hpp"

namespace served {

using qos::Ns;

class Served : public driver_test::Steering {
  protected:
    static constexpr std::uint32_t pids[] = {557, 558};

    Served() : sim(2) {
        kernel.clock = [this] { return static_cast<std::uint64_t>(begin + sim.now()); };
        for (std::size_t n = 0; n < 2; n++) {
            sim.tasks.push_back({n});
            clients[n == 0 ? first : second] = n;
            pid_of.push_back(pids[n]);
        }
    }

    /// Adds a third process, of the last tenant.
    void add_third(std::uint32_t pid, std::function<Ns(Ns)> arrives) {
        third = kernel.add_process(pid, {instances[4], instances[5]});
        for (auto &[name, object] : kernel.others[third])
            object.timeslice_us = 2000;
        kernel.processes[pid].started = 30;
        kernel.processes[pid].command = "third";
        clients[third] = sim.tasks.size();
        sim.tasks.push_back({1, std::move(arrives)});
        pid_of.push_back(pid);
    }

    /// Adds another context of a process, of the first tenant.
    std::uint32_t add_context(std::uint32_t pid) {
        const std::uint32_t client = kernel.add_process(pid, {instances[4]});
        for (auto &[name, object] : kernel.others[client])
            object.timeslice_us = 2000;
        clients[client] = sim.tasks.size();
        sim.tasks.push_back({0, simulated::always()});
        pid_of.push_back(pid);
        return client;
    }

    /// Runs the GPU until @p end, with the timeslices and pauses that were requested so far.
    void run_until(Ns end) {
        obey();
        sim.run_until(end);
        std::vector<qos::TenantTurn> later;
        for (const qos::TenantTurn &turn : sim.turns) {
            // A switch is recorded when it is over.
            if (!later.empty() || (turn.ends && turn.end + simulated::Gpu::change > sim.now())) {
                later.push_back(turn);
                continue;
            }
            if (!open_.contains(turn.task))
                kernel.switches.push_back(record(turn.begin, true, turn.task));
            if (turn.ends)
                kernel.switches.push_back(record(turn.end, false, turn.task));
            turn.ends ? static_cast<void>(open_.erase(turn.task))
                      : static_cast<void>(open_.insert(turn.task));
        }
        sim.turns = std::move(later);
    }

    simulated::Gpu sim;
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
        std::set<std::size_t> begun; // tasks whose pause begins in this call
        const auto all = kernel.changes();
        for (; obeyed_ < all.size(); obeyed_++) {
            const auto &change = all[obeyed_];
            const auto client = clients.find(change.client);
            if (client == clients.end())
                continue;
            simulated::Task &task = sim.tasks[client->second];
            if (change.command == driver_test::rm::SetTimeslice::command)
                task.timeslice = static_cast<Ns>(change.value) * qos::us;
            else if (change.command == driver_test::rm::DisableChannels::command) {
                // A pause takes some time even if it ends at once.
                if (task.paused && change.value != 0 && begun.contains(client->second))
                    sim.run_until(sim.now() + pause);
                task.paused = change.value == 0 && pauses_tasks;
                if (task.paused)
                    begun.insert(client->second);
            }
        }
    }

    std::size_t obeyed_ = 0;
    std::set<std::uint64_t> open_;
};

} // namespace served
