// SPDX-License-Identifier: MIT OR GPL-2.0
#include "tenants.hpp"

#include <algorithm>
#include <set>

namespace nvqos {

using qos::Ns;

namespace {

constexpr const char *others_name = "others";

std::vector<KeptTenant> rows_for(const Goals &goals, Ns now) {
    std::vector<KeptTenant> rows;
    for (const Tenant &tenant : goals.tenants)
        rows.push_back({tenant, now, 0, {tenant.name, tenant.goal}});
    rows.push_back({{others_name, {}, goals.others}, now, 0, {others_name, goals.others}});
    return rows;
}

/// Returns Tenants::keys().
std::vector<std::string> keys_of(const Goals &goals) {
    std::vector<std::string> keys;
    // A tenant that is held may have the name of the last row, which is on each GPU.
    std::set<std::string> taken{others_name};
    for (const Tenant &tenant : goals.tenants) {
        std::string key = tenant.name;
        while (!taken.insert(key).second)
            key += '\'';
        keys.push_back(std::move(key));
    }
    keys.emplace_back(others_name);
    return keys;
}

} // namespace

Tenants::Tenants(const Goals &goals, Ns now)
    : goals_(goals), rows_(rows_for(goals, now)), keys_(keys_of(goals)) {}

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
    keys_ = keys_of(goals);
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
