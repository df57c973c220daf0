// SPDX-License-Identifier: MIT OR GPL-2.0
#include "spart_manager.hpp"

#include "placement.hpp"
#include "spart.hpp"

namespace engine {

SpartManager::SpartManager(const Scenario &scenario) : scenario_(scenario) {
    const std::vector<int> parts = equal_parts(scenario.gpu.sms, scenario.kernels.size());
    for (std::size_t k = 0; k < parts.size(); k++)
        owner_.insert(owner_.end(), static_cast<std::size_t>(parts[k]), k);
}

void SpartManager::begin_epoch(Gpu &gpu) {
    if (gpu.now() > 0) {
        speeds_ = speeds(gpu, speeds_, begin_);
        climb_all(gpu);
        begin_ = gpu.now();
    }
    gpu.allot(table());
}

void SpartManager::climb_all(Gpu &gpu) {
    for (std::size_t k = 0; k < gpu.kernels(); k++) {
        if (!scenario_.kernels[k].qos)
            continue;
        std::vector<Share> shares;
        for (std::size_t v = 0; v < gpu.kernels(); v++)
            shares.push_back({.qos = scenario_.kernels[v].qos,
                              .sms = static_cast<int>(std::ranges::count(owner_, v)),
                              .goal = scenario_.kernels[v].goal,
                              .speed = speeds_[v].since_launch,
                              .last = speeds_[v].last});
        if (const std::optional<Move> move = climb(shares, k, scenario_.spart_least))
            hand_over(gpu, move->from, move->to);
    }
}

/** Hands over the last SM of kernel @p from that is not already changing hands. */
void SpartManager::hand_over(Gpu &gpu, std::size_t from, std::size_t to) {
    for (std::size_t sm = owner_.size(); sm-- > 0;) {
        if (owner_[sm] != from || gpu.sm(sm).is_evicting())
            continue;
        owner_[sm] = to;
        if (const int blocks = gpu.sm(sm).blocks(from); blocks > 0) {
            gpu.evict(sm, from, blocks);
            swaps_ += blocks;
        }
        return;
    }
}

qos::Table SpartManager::table() const {
    qos::Table found(owner_.size(), scenario_.kernels.size());
    for (std::size_t sm = 0; sm < owner_.size(); sm++)
        found(sm, owner_[sm]) =
            most_blocks(scenario_.gpu.sm, scenario_.kernels[owner_[sm]].kernel.need);
    return found;
}

} // namespace engine
