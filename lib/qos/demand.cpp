// SPDX-License-Identifier: MIT OR GPL-2.0
#include "demand.hpp"

#include <algorithm>

namespace qos {

Demand::Counted &Demand::of(std::size_t tenant) {
    if (tenants_.size() <= tenant)
        tenants_.resize(tenant + 1);
    return tenants_[tenant];
}

void Demand::cover(std::size_t tenant, Ns begin, Ns end) {
    Counted &counted = of(tenant);
    counted.now.backlogged += std::max<Ns>(0, end - std::max(begin, counted.until));
    counted.until = std::max(counted.until, end);
}

std::optional<Ns> Demand::add(const TenantTurn &turn, std::optional<Ns> timeslice, Ns round) {
    std::optional<Ns> wait;
    const Task task{turn.tenant, turn.task};
    if (const auto waited = waits_.find(task); waited != waits_.end()) {
        if (turn.begin - waited->second <= round) {
            cover(turn.tenant, waited->second, turn.begin);
            wait = turn.begin - waited->second;
        }
        waits_.erase(waited);
    }
    cover(turn.tenant, turn.begin, turn.end);
    Observation &now = of(turn.tenant).now;
    now.used += turn.end - turn.begin;
    Ns &held = held_[task];
    held += turn.end - turn.begin;
    if (!turn.ends)
        return wait;
    now.turns++;
    if (timeslice && held >= *timeslice)
        waits_[task] = turn.end;
    held_.erase(task);
    // Contexts that do not come back are forgotten.
    std::erase_if(waits_, [&](const auto &one) { return turn.end - one.second > round; });
    return wait;
}

void Demand::lose() {
    held_.clear();
    waits_.clear();
}

void Demand::renumber(std::span<const std::optional<std::size_t>> now) {
    const auto move = [&](std::map<Task, Ns> &times) {
        std::map<Task, Ns> moved;
        for (const auto &[task, time] : times)
            if (task.first < now.size() && now[task.first])
                moved.emplace(Task{*now[task.first], task.second}, time);
        times = std::move(moved);
    };
    move(held_);
    move(waits_);
    const std::vector<Counted> before = std::move(tenants_);
    tenants_.clear();
    for (std::size_t n = 0; n < before.size() && n < now.size(); n++)
        if (now[n])
            of(*now[n]) = before[n];
}

std::vector<Observation> Demand::take(std::size_t tenants) {
    std::vector<Observation> taken(tenants);
    for (std::size_t n = 0; n < tenants_.size(); n++) {
        if (n < tenants)
            taken[n] = tenants_[n].now;
        tenants_[n].now = {};
    }
    return taken;
}

} // namespace qos
