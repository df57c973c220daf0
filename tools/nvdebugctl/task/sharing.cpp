// SPDX-License-Identifier: MIT OR GPL-2.0
#include "sharing.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <memory>
#include <set>

#include "cli/json.hpp"
#include "control/control.hpp"
#include "lib/base/runtime_folder.hpp"
#include "select.hpp"
#include "shares.hpp"

namespace nvdebugctl {

namespace {

using nvdebug::Detail;
using nvdebug::ErrorCode;
using nvdebug::Owners;
using Pids = std::vector<std::uint32_t>;

/// Returns the TSGs that compete for GR0's runlist, with the tenants that they belong to.
Outcome<std::vector<Competitor>> competitors(Context &context, const Owners &owners,
                                             const Pids &pids) {
    const auto engines = context.gpu().engines();
    if (!engines)
        return tl::unexpected(Failure(engines.error()));
    const auto gr0 = std::ranges::find(*engines, "GR0", &nvdebug::Engine::name);
    if (gr0 == engines->end() || !gr0->runlist)
        return fail(ErrorCode::unsupported, "no runlist of GR0 is known here");
    auto list = context.gpu().runlist(*gr0->runlist, Detail::brief);
    if (!list)
        return tl::unexpected(Failure(list.error()));
    if (list->torn)
        return fail(ErrorCode::busy, "the runlist kept moving while it was read; try again");
    const bool together = selection_of(context).is_group();
    const nvdebug::OwnersOnLists tasks(owners, {std::move(*list)});
    const nvdebug::Runlist &runlist = tasks.lists().front();
    std::vector<Competitor> found;
    for (const nvdebug::ListedTsg &tsg : nvdebug::tsgs_of(runlist)) {
        const nvdebug::Target target{runlist.id, tsg.id};
        const std::set<std::uint32_t> sharers = tasks.sharers(target);
        // TSGs of the driver's own have almost no work, and their timeslice cannot be set.
        if (sharers.empty())
            continue;
        std::set<std::size_t> tenants;
        bool others = false;
        for (const std::uint32_t pid : sharers) {
            const auto at = std::ranges::find(pids, pid);
            if (at == pids.end())
                others = true;
            else
                tenants.insert(together ? 0 : static_cast<std::size_t>(at - pids.begin()));
        }
        if (tenants.size() + others > 1)
            return fail(
                ErrorCode::invalid,
                fmt::format("TSG {} is shared by processes {} (MPS): they have one share "
                            "together, so select "
                            "all of them by --container, --pod, --job, --cgroup or --all-of",
                            to_string(target), fmt::join(sharers, ", ")));
        found.push_back({target, tsg.headers.front()->timeslice_ns,
                         static_cast<std::uint32_t>(tsg.headers.size()),
                         others ? std::nullopt : std::optional(*tenants.begin())});
    }
    return found;
}

/// Observes the timeslices of all TSGs. The timeslice of a TSG that is gone is not known.
Observe timeslices_of_all(const nvdebug::Gpu &gpu, std::vector<nvdebug::TsgTimeslice> slices) {
    return [&gpu, slices = std::move(slices)]() -> Outcome<std::vector<Observation>> {
        const auto list = gpu.runlist(*slices.front().tsg.runlist, Detail::brief);
        if (!list)
            return tl::unexpected(Failure(list.error()));
        const auto tsgs = nvdebug::tsgs_of(*list);
        std::vector<Observation> seen;
        for (const auto &[tsg, ns] : slices) {
            const auto at = std::ranges::find(tsgs, tsg.id, &nvdebug::ListedTsg::id);
            seen.push_back(
                {Observation::Kind::tsg, tsg, "timeslice_us",
                 at == tsgs.end() ? Json() : microseconds(at->headers.front()->timeslice_ns),
                 at == tsgs.end()});
        }
        return seen;
    };
}

/// Gives shares on the basis of the timeslices that TSGs had before the first change.
class Sharing {
  public:
    Sharing(Context &context, Shares shares, std::shared_ptr<const void> claim)
        : context_(context), shares_(std::move(shares)), claim_(std::move(claim)) {}

    Outcome<std::vector<nvdebug::TsgTimeslice>> look() {
        const auto pids = selected(context_);
        if (!pids)
            return tl::unexpected(pids.error());
        const auto owners = context_.gpu().owners();
        if (!owners)
            return tl::unexpected(Failure(owners.error()));
        auto all = competitors(context_, *owners, still_meant(*pids, *owners));
        if (!all)
            return tl::unexpected(all.error());
        Key key;
        bool set_by_others = false;
        for (Competitor &one : *all) {
            const auto [known, fresh] = before_.try_emplace(one.tsg.id, one.ns);
            const auto set = set_.find(one.tsg.id);
            // CUDA makes a TSG with one timeslice, and gives it another one soon after.
            if (!nvdebug::is_about(one.ns, set == set_.end() ? known->second : set->second,
                                   nvdebug::unchanged_tolerance)) {
                known->second = one.ns;
                set_by_others = true;
            }
            one.ns = known->second;
            key.push_back({one.tsg.id, one.tenant});
        }
        // The driver reuses ids, so the timeslices of TSGs that are gone are forgotten.
        std::erase_if(before_, [&](const auto &old) {
            return std::ranges::none_of(
                *all, [&](const Competitor &one) { return one.tsg.id == old.first; });
        });
        changed_ = key != key_ || set_by_others;
        key_ = std::move(key);
        auto slices = timeslices_for(*all, shares_);
        set_.clear();
        if (slices)
            for (const nvdebug::TsgTimeslice &slice : *slices)
                set_[slice.tsg.id] = slice.ns;
        return slices;
    }

    /// Returns whether, since the previous look, TSGs came or went, or another program has set
    /// timeslices.
    bool changed() const { return changed_; }

  private:
    using Key = std::vector<std::pair<std::uint32_t, std::optional<std::size_t>>>;

    /// Replaces a given pid by 0 if another process has it by now. The pid keeps its place, because
    /// shares are assigned by place.
    Pids still_meant(Pids pids, const nvdebug::Owners &owners) {
        constexpr std::uint32_t no_process = 0;
        if (context_.words("PID").empty())
            return pids;
        for (std::uint32_t &pid : pids) {
            const auto now = std::ranges::find(owners.processes, pid, &nvdebug::Process::pid);
            if (now != owners.processes.end() &&
                !nvdebug::same_process(meant_.try_emplace(pid, *now).first->second, *now))
                pid = no_process;
        }
        return pids;
    }

    Context &context_;
    const Shares shares_;
    const std::shared_ptr<const void> claim_;
    std::map<std::uint32_t, nvdebug::Process> meant_;     // by the pid that was given
    std::map<std::uint32_t, std::uint64_t> before_, set_; // ns, by TSG
    Key key_;
    bool changed_ = false;
};

} // namespace

Outcome<Document> set_shares(Context &context) {
    const auto info = context.gpu().info();
    auto claim =
        claim_shares(nvdebug::base::runtime_folder, info ? info->pci_address.value_or("") : "");
    if (!claim)
        return tl::unexpected(claim.error());
    const auto sharing = std::make_shared<Sharing>(
        context, *parse_shares(*context.value("--share")), std::move(*claim));
    const auto slices = sharing->look();
    if (!slices)
        return tl::unexpected(slices.error());
    Renew renew;
    if (context.flag("--hold"))
        renew = [sharing]() -> std::optional<nvdebug::Request> {
            const auto now = sharing->look();
            if (!now || !sharing->changed())
                return std::nullopt;
            return nvdebug::set_timeslices(*now);
        };
    // The lease keeps the function that observes it, and this function keeps the claim.
    const auto observe = [sharing, all = timeslices_of_all(context.gpu(), *slices)] {
        return all();
    };
    return carry_out(context, nvdebug::set_timeslices(*slices), observe, renew);
}

} // namespace nvdebugctl
