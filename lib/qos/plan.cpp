// SPDX-License-Identifier: MIT OR GPL-2.0
#include "plan.hpp"

namespace qos {

std::vector<Plan> plan(std::span<const GpuView> gpus) {
    std::vector<Plan> plans;
    for (const GpuView &gpu : gpus)
        plans.push_back(next_epoch(gpu.entrants, gpu.accounts, gpu.seen, gpu.settings));
    return plans;
}

Plan plan_alone(const GpuView &gpu) {
    return plan({&gpu, 1}).front();
}

} // namespace qos
