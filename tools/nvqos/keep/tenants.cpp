// SPDX-License-Identifier: MIT OR GPL-2.0
#include "tenants.hpp"

#include <algorithm>

namespace nvqos {

using qos::Ns;

namespace {

std::vector<KeptTenant> rows_for(const Goals &goals, Ns now) {
    std::vector<KeptTenant> rows;
    for (const Tenant &tenant : goals.tenants)
        rows.push_back({tenant, now, 0, {tenant.name, tenant.goal}});
    rows.push_back({{"others", {}, goals.others}, now, 0, {"others", goals.others}});
    return rows;
}

} // namespace

Tenants::Tenants(const Goals &goals, Ns now) : goals_(goals), rows_(rows_for(goals, now)) {}

std::vector<std::optional<std::size_t>> Tenants::replace(const Goals &goals, Ns now) {
    const std::vector<KeptTenant> old = std::exchange(rows_, rows_for(goals, now));
    std::vector<std::optional<std::size_t>> was(rows_.size());
    std::vector<bool> stays(old.size());
    for (std::size_t n = 0; n < others(); n++) {
        const auto same = std::find_if(old.begin(), old.end() - 1, [&](const KeptTenant &one) {
            return one.asked == rows_[n].asked;
        });
        if (same != old.end() - 1)
            was[n] = static_cast<std::size_t>(same - old.begin());
    }
    if (goals.others == goals_.others)
        was.back() = old.size() - 1;
    for (std::size_t n = 0; n < was.size(); n++)
        if (was[n]) {
            rows_[n] = old[*was[n]];
            stays[*was[n]] = true;
        }
    for (std::size_t n = 0; n < old.size(); n++)
        if (!stays[n] && old[n].missed.any())
            add_missed(past_missed_, old[n].missed);
    goals_ = goals;
    return was;
}

void Tenants::begin(Ns now) {
    for (KeptTenant &row : rows_)
        row.since = now;
}

void Tenants::add_use(const qos::TenantTurn &turn) {
    KeptTenant &row = rows_[turn.tenant];
    row.used += std::max<Ns>(0, turn.end - std::max(turn.begin, row.since));
}

void Tenants::note(std::size_t tenant, std::optional<bool> is_kept, const std::string &time) {
    rows_[tenant].missed.add(is_kept, time);
}

std::vector<qos::Goal> Tenants::list() const {
    std::vector<qos::Goal> goals;
    for (const KeptTenant &row : rows_)
        goals.push_back(row.asked.goal);
    return goals;
}

std::vector<Missed> Tenants::missed() const {
    std::vector<Missed> all = past_missed_;
    for (const KeptTenant &row : rows_)
        if (row.missed.any())
            add_missed(all, row.missed);
    return all;
}

} // namespace nvqos
