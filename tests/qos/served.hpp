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

/// A simulated GPU that writes its turns as the driver's record of switches.
struct RecordedGpu {
    explicit RecordedGpu(const simulation::Gpus &gpus) : sim(gpus), switching(gpus.switching) {}

    simulation::SharedGpu sim;
    Ns switching;
    std::map<std::uint32_t, std::size_t> clients =
        {};                                   ///< the number of each client's task in `sim`
    std::vector<std::uint32_t> pid_of = {};   ///< by task
    std::vector<simulation::Turn> turns = {}; ///< with a last switch that is not over
    std::set<std::uint64_t> open = {};        ///< tasks in the middle of a turn

    std::size_t add(std::uint32_t client, std::uint32_t pid, simulated::Bursts bursts = nullptr) {
        pid_of.push_back(pid);
        return clients[client] = sim.add(std::move(bursts));
    }
};

class Served : public driver_test::Steering {
  protected:
    static constexpr std::uint32_t pids[] = {557, 558};

    Served() {
        kernel.clock = [this] { return static_cast<std::uint64_t>(begin + sim.now()); };
        for (std::size_t n = 0; n < 2; n++)
            one.add(n == 0 ? first : second, pids[n]);
    }

    /// Adds a third process.
    void add_third(std::uint32_t pid, simulated::Bursts bursts) {
        third = kernel.add_process(pid, {instances[4], instances[5]});
        for (auto &[name, object] : kernel.others[third])
            object.timeslice_us = 2000;
        kernel.processes[pid].started = 30;
        kernel.processes[pid].command = "third";
        one.add(third, pid, std::move(bursts));
    }

    /// Adds another context of a process.
    std::uint32_t add_context(std::uint32_t pid) {
        const std::uint32_t client = kernel.add_process(pid, {instances[4]});
        for (auto &[name, object] : kernel.others[client])
            object.timeslice_us = 2000;
        one.add(client, pid, simulated::always());
        return client;
    }

    /// Runs the GPU until @p end, with the timeslices and pauses that were requested so far.
    void run_until(Ns end) {
        obey();
        pass(one, end, kernel.switches);
        for (auto &[gpu_id, other] : others)
            pass(other, end, kernel.switches_of[gpu_id]);
    }

    const simulation::Gpus gpus = gpus_of_stand_in();
    RecordedGpu one{gpus};                       ///< the first GPU
    std::map<std::uint32_t, RecordedGpu> others; ///< other GPUs, by rm::Card::gpu_id
    simulation::SharedGpu &sim = one.sim;
    std::vector<std::uint32_t> &pid_of = one.pid_of;
    static constexpr Ns begin = 1'000 * qos::second; ///< by the GPU's clock
    static constexpr Ns pause =
        650 * qos::us;        ///< the time that a pause takes (measured on an H100)
    bool pauses_tasks = true; ///< else pauses have no effect
    std::uint32_t third = 0;

  private:
    static driver_test::rm::SwitchRecord record(const RecordedGpu &gpu, Ns ns, bool starts,
                                                std::uint64_t task) {
        driver_test::rm::SwitchRecord made{};
        made.tag =
            starts ? driver_test::rm::SwitchRecord::starts : driver_test::rm::SwitchRecord::ends;
        made.ns = static_cast<std::uint64_t>(begin + ns);
        made.pid = gpu.pid_of[task];
        made.context = static_cast<std::uint32_t>(task + 1);
        return made;
    }

    /// Runs a GPU, and adds to its record of switches.
    static void pass(RecordedGpu &gpu, Ns end,
                     std::vector<driver_test::rm::SwitchRecord> &switches) {
        gpu.sim.run_until(end);
        std::vector<simulation::Turn> later;
        std::ranges::copy(gpu.sim.take_turns(), std::back_inserter(gpu.turns));
        for (const simulation::Turn &turn : gpu.turns) {
            // A switch is recorded when it is over.
            if (!later.empty() || (turn.ends && turn.end + gpu.switching > gpu.sim.now())) {
                later.push_back(turn);
                continue;
            }
            if (!gpu.open.contains(turn.tsg))
                switches.push_back(record(gpu, turn.begin, true, turn.tsg));
            if (turn.ends)
                switches.push_back(record(gpu, turn.end, false, turn.tsg));
            turn.ends ? static_cast<void>(gpu.open.erase(turn.tsg))
                      : static_cast<void>(gpu.open.insert(turn.tsg));
        }
        gpu.turns = std::move(later);
    }

    /// Returns the GPU with the client's task; nullptr: there is none.
    RecordedGpu *gpu_of(std::uint32_t client) {
        if (one.clients.contains(client))
            return &one;
        for (auto &[gpu_id, other] : others)
            if (other.clients.contains(client))
                return &other;
        return nullptr;
    }

    /// Returns when a change takes effect, by the time of GPUs. It is not earlier than now.
    virtual Ns time_of(const driver_test::StandIn::Change &) const { return 0; }

    void obey() {
        using What = simulation::Request::What;
        std::set<std::uint32_t> begun; // clients that this call pauses
        const auto all = kernel.changes();
        for (; obeyed_ < all.size(); obeyed_++) {
            const auto &change = all[obeyed_];
            RecordedGpu *const gpu = gpu_of(change.client);
            if (!gpu)
                continue;
            gpu->sim.run_until(std::max(gpu->sim.now(), time_of(change)));
            const std::size_t task = gpu->clients.at(change.client);
            if (change.command == driver_test::rm::SetTimeslice::command)
                gpu->sim.change({task, What::timeslice, static_cast<std::int64_t>(change.value)});
            else if (change.command == driver_test::rm::DisableChannels::command) {
                // A pause takes some time even if it ends at once.
                const bool enabled = disables_.take(change);
                if (enabled && begun.erase(change.client))
                    gpu->sim.run_until(gpu->sim.now() + pause);
                if (!enabled && pauses_tasks)
                    begun.insert(change.client);
                gpu->sim.change({task, enabled || !pauses_tasks ? What::resume : What::pause});
            }
        }
    }

    std::size_t obeyed_ = 0;
    driver_test::DisableCounts disables_;
};

} // namespace served
