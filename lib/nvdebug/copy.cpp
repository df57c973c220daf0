// SPDX-License-Identifier: MIT OR GPL-2.0
#include "gpu.hpp"
#include "lib/base/text.hpp"
#include "nvdebug/answers.hpp"
#include "nvdebug/parse.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace nvdebug {
namespace {

using text::key;

/// Reads the PCE mask; `-` means that the LCE has no PCEs of its own.
void set_pces(const text::Value &value, LogicalCopyEngine &lce) {
    if (value.text != "-")
        read(value, lce.pces);
}

constexpr text::Key<LogicalCopyEngine> copy_columns[] = {
    key<&LogicalCopyEngine::name>("engine"),
    key<&LogicalCopyEngine::runlist>("runlist"),
    {"pces", set_pces},
    key<&LogicalCopyEngine::shares>("shares"),
};

} // namespace

Result<std::vector<LogicalCopyEngine>> parse_copy_topology(std::string_view text) {
    return text::parse_table<LogicalCopyEngine>(text, copy_columns);
}

Result<CopyTopology> Gpu::copy_topology() const {
    auto lces = parse_file(*this, "copy_topology", parse_copy_topology);
    if (!lces)
        return tl::unexpected(std::move(lces).error());
    const auto pces = parse_file(*this, "pce_map", parse_number);
    if (!pces)
        return tl::unexpected(pces.error());
    if (*pces > std::numeric_limits<std::uint32_t>::max())
        return tl::unexpected(
            in_file(*this, "pce_map", {ErrorCode::malformed, 0, "", "line 1: more than 32 PCEs"}));
    return CopyTopology{static_cast<std::uint32_t>(*pces), std::move(*lces)};
}

namespace {

/// Disjoint sets of runlists. Joining two runlists unites their sets.
class Groups {
  public:
    void add(std::uint32_t runlist) { leader_.emplace(runlist, runlist); }

    void join(std::uint32_t a, std::uint32_t b) {
        const std::uint32_t from = leader_.at(a);
        const std::uint32_t to = leader_.at(b);
        for (auto &[runlist, leader] : leader_)
            if (leader == from)
                leader = to;
    }

    void remove(std::uint32_t runlist) { leader_.erase(runlist); }

    /// Returns the sets, ordered by the lowest id in each.
    std::vector<std::vector<std::uint32_t>> all() const {
        std::map<std::uint32_t, std::vector<std::uint32_t>> by_leader;
        for (const auto &[runlist, leader] : leader_)
            by_leader[leader].push_back(runlist);
        std::vector<std::vector<std::uint32_t>> groups;
        for (auto &[leader, runlists] : by_leader)
            groups.push_back(std::move(runlists));
        std::sort(groups.begin(), groups.end());
        return groups;
    }

  private:
    std::map<std::uint32_t, std::uint32_t> leader_;
};

} // namespace

std::uint32_t pces_of(const CopyTopology &copy, const LogicalCopyEngine &lce) {
    std::uint32_t pces = lce.pces;
    for (const LogicalCopyEngine &other : copy.lces)
        if (lce.shares == other.name)
            pces |= other.pces;
    return pces;
}

std::vector<CopyContention> copy_contention(const CopyTopology &copy) {
    constexpr unsigned most_pces = 32;
    std::vector<std::uint32_t> pces;
    for (const LogicalCopyEngine &lce : copy.lces)
        pces.push_back(pces_of(copy, lce));
    std::vector<CopyContention> found;
    for (unsigned pce = 0; pce < most_pces; pce++) {
        std::vector<std::string> lces;
        for (std::size_t n = 0; n < pces.size(); n++)
            if (pces[n] >> pce & 1)
                lces.push_back(copy.lces[n].name);
        if (lces.size() < 2)
            continue;
        const auto same = std::find_if(found.begin(), found.end(),
                                       [&](const CopyContention &c) { return c.lces == lces; });
        if (same != found.end())
            same->pces |= std::uint32_t{1} << pce;
        else
            found.push_back({std::uint32_t{1} << pce, std::move(lces)});
    }
    return found;
}

namespace {

const LogicalCopyEngine *find_lce(const CopyTopology &copy, const Engine &engine) {
    for (const LogicalCopyEngine &lce : copy.lces)
        if (engine.type == "LCE" && lce.name == engine.name)
            return &lce;
    return nullptr;
}

/// Returns whether the copy topology has all LCEs. On Blackwell, the wiring of the second unit's
/// LCEs is not public.
bool every_lce_is_in(const CopyTopology &copy, std::span<const Engine> engines) {
    return std::ranges::all_of(engines, [&](const Engine &engine) {
        return engine.type != "LCE" || find_lce(copy, engine);
    });
}

void join_by_pces(const CopyTopology &copy, Groups &groups) {
    std::map<std::string, std::uint32_t> runlist_of;
    for (const LogicalCopyEngine &lce : copy.lces) {
        if (!lce.runlist)
            continue;
        groups.add(*lce.runlist);
        runlist_of.emplace(lce.name, *lce.runlist);
    }
    for (const CopyContention &contention : copy_contention(copy)) {
        std::optional<std::uint32_t> first;
        for (const std::string &lce : contention.lces) {
            const auto runlist = runlist_of.find(lce);
            if (runlist == runlist_of.end())
                continue;
            if (first)
                groups.join(*first, runlist->second);
            first = runlist->second;
        }
    }
}

/// Returns the runlists on which every engine is an LCE without a PCE.
std::set<std::uint32_t> unable_runlists(const CopyTopology &copy, std::span<const Engine> engines) {
    std::set<std::uint32_t> unable;
    for (const LogicalCopyEngine &lce : copy.lces)
        if (lce.runlist && pces_of(copy, lce) == 0)
            unable.insert(*lce.runlist);
    for (const LogicalCopyEngine &lce : copy.lces)
        if (lce.runlist && pces_of(copy, lce) != 0)
            unable.erase(*lce.runlist);
    for (const Engine &engine : engines)
        if (engine.runlist && !find_lce(copy, engine))
            unable.erase(*engine.runlist);
    return unable;
}

} // namespace

RunlistGroups independent_runlists(std::span<const Engine> engines, const CopyTopology *copy) {
    Groups groups;
    for (const Engine &engine : engines)
        if (engine.runlist)
            groups.add(*engine.runlist);
    for (const SharedPbdma &shared : shared_pbdmas(engines))
        for (const std::uint32_t runlist : shared.runlists)
            groups.join(shared.runlists.front(), runlist);
    if (!copy)
        return {groups.all(), {}, false};
    join_by_pces(*copy, groups);
    const std::set<std::uint32_t> unable = unable_runlists(*copy, engines);
    for (const std::uint32_t runlist : unable)
        groups.remove(runlist);
    return {groups.all(), {unable.begin(), unable.end()}, every_lce_is_in(*copy, engines)};
}

} // namespace nvdebug
