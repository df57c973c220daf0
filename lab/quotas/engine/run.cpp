// SPDX-License-Identifier: MIT OR GPL-2.0
#include "run.hpp"

#include "manager.hpp"

namespace engine {
namespace {

constexpr std::int64_t samples_of_epoch = 100;

std::vector<Kernel> kernels_of(const Scenario &scenario) {
    std::vector<Kernel> found;
    for (const Participant &one : scenario.kernels)
        found.push_back(one.kernel);
    return found;
}

} // namespace

Outcome run(const Scenario &scenario, const Watch &watch) {
    const std::unique_ptr<Manager> manager = Manager::of(scenario);
    const qos::Machine *machine = manager->machine();
    Gpu gpu(scenario.gpu, kernels_of(scenario), scenario.seed, manager->machine());
    const std::int64_t end = scenario.epoch * scenario.epochs;
    const std::int64_t period = std::max<std::int64_t>(scenario.epoch / samples_of_epoch, 1);
    std::int64_t next_sample = period;
    while (gpu.now() < end) {
        if (machine ? machine->boundary_is_due() : gpu.now() % scenario.epoch == 0)
            manager->begin_epoch(gpu);
        gpu.cycle();
        if (watch)
            watch(gpu, machine);
        const std::int64_t boundary =
            (gpu.now() + scenario.epoch - 1) / scenario.epoch * scenario.epoch;
        gpu.skip(std::min(next_sample, boundary));
        if (gpu.now() < next_sample)
            continue;
        manager->sample(gpu);
        next_sample += period;
    }
    Outcome found;
    found.cycles = gpu.now();
    found.swaps = manager->swaps();
    found.memory_busy = gpu.memory().busy();
    for (std::size_t k = 0; k < gpu.kernels(); k++) {
        found.instructions.push_back(gpu.used(k));
        found.launches.push_back(gpu.grid(k).launches());
    }
    found.epochs = manager->epochs();
    return found;
}

} // namespace engine
