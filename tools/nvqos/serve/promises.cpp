// SPDX-License-Identifier: MIT OR GPL-2.0
#include "promises.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace nvqos {
namespace {

constexpr qos::Part finest_part = qos::point / 1000;

/// Returns the percentage with three decimals, rounded down.
double rounded_percentage(qos::Part part) {
    const qos::Part steps = part / finest_part;
    return static_cast<double>(steps) / 1000;
}

} // namespace

qos::Part most_promised(std::vector<qos::Entrant> entrants, const qos::Settings &settings) {
    // As where goals are refused: a tenant without a task has one soon, and others may come to none.
    for (qos::Entrant &entrant : entrants)
        if (&entrant != &entrants.back())
            entrant.tsgs = std::max<std::int64_t>(entrant.tsgs, 1);
    if (!entrants.empty() && entrants.back().tsgs == 0)
        entrants.pop_back();
    entrants.push_back({.goal = {.aim = qos::Aim::share}, .tsgs = 1});
    qos::Part fits = 0, exceeds = qos::whole / finest_part;
    while (exceeds - fits > 1) {
        const qos::Part middle = fits + (exceeds - fits) / 2;
        entrants.back().goal.part = middle * finest_part;
        (qos::conflicts(entrants, settings).empty() ? fits : exceeds) = middle;
    }
    return fits * finest_part;
}

Json gpu_json(const GpuThread &gpu, const Goals &goals) {
    const GpuFacts facts = gpu.facts();
    const nvdebug::Product &product = facts.product;
    qos::Part promised = goals.others.part;
    for (const Tenant &tenant : goals.tenants)
        promised += qos::is_promised(tenant.goal.aim) ? tenant.goal.part : 0;
    std::optional<qos::Part> possible;
    if (const auto plan = gpu.plan()) {
        std::vector<qos::Entrant> entrants;
        // The governor counts the TSGs that it knows, and a new task's TSG may come later.
        for (const TenantReport &line : plan->tenants)
            entrants.push_back(
                {line.goal, std::max(line.tsgs, static_cast<std::int64_t>(line.tasks))});
        // Windows by the clock leave a tenant of one node time for a share only if all have a cap.
        const bool has_nodes = std::ranges::count(goals.tenants, Gang::nodes, &Tenant::gang) > 0;
        possible = has_nodes ? 0 : most_promised(std::move(entrants), goals.settings);
    }
    const auto why = gpu.why_out();
    return {{"gpu", gpu.index()},
            {"uuid", product.uuid ? Json(*product.uuid) : Json()},
            {"address", facts.address.empty() ? Json() : Json(facts.address)},
            {"device", product.minor ? Json(fmt::format("/dev/nvidia{}", *product.minor)) : Json()},
            {"up", gpu.is_up()},
            {"why", why ? Json(why->sentence) : Json()},
            {"promised_percent", rounded_percentage(promised)},
            {"possible_percent", possible ? Json(rounded_percentage(*possible)) : Json()}};
}

} // namespace nvqos
