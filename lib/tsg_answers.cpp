// SPDX-License-Identifier: MIT OR GPL-2.0
#include "nvdebug/answers.hpp"

#include <utility>

namespace nvdebug {
namespace {

enum class MayRun { no, yes, unknown };

MayRun may_run(const Channel &channel) {
    if (!channel.enabled)
        return MayRun::unknown;
    return *channel.enabled ? MayRun::yes : MayRun::no;
}

/** One enabled channel is enough. */
MayRun may_run(const Tsg &tsg) {
    MayRun answer = MayRun::no;
    for (const Channel &channel : tsg.channels) {
        const MayRun one = may_run(channel);
        if (one == MayRun::yes)
            return one;
        if (one == MayRun::unknown)
            answer = one;
    }
    return answer;
}

/** Time in ns that TSGs have in one round of a list. */
struct Round {
    std::map<std::uint32_t, std::uint64_t> of_tsg;
    std::uint64_t whole = 0;
    bool known = true;
};

Round round_of(const Runlist &runlist) {
    Round round;
    round.known = !runlist.torn && runlist.tsgs.has_value();
    for (const RunlistItem &item : runlist.items) {
        MayRun answer = MayRun::unknown; // what an entry of an unknown kind does
        if (const auto *const tsg = std::get_if<Tsg>(&item)) {
            answer = may_run(*tsg);
            const std::uint64_t time = answer == MayRun::yes ? tsg->timeslice_ns : 0;
            round.of_tsg[tsg->id] += time;
            round.whole += time;
        } else if (const auto *const channel = std::get_if<Channel>(&item)) {
            answer = may_run(*channel) == MayRun::no ? MayRun::no : MayRun::unknown;
        }
        if (answer == MayRun::unknown)
            round.known = false;
    }
    return round;
}

} // namespace

std::vector<SharedTsg> shared_tsgs(std::span<const AddressSpaceUse> uses) {
    std::vector<SharedTsg> found;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> place;
    for (const AddressSpaceUse &use : uses) {
        if (!use.tsg || !use.shared)
            continue;
        const auto [at, is_new] = place.emplace(std::pair(use.runlist, *use.tsg), found.size());
        if (is_new)
            found.push_back({use.runlist, *use.tsg, use.spaces, {}});
        found[at->second].uses.push_back(&use);
    }
    return found;
}

std::vector<TsgShare> expected_shares(const Runlist &runlist) {
    const Round round = round_of(runlist);
    std::vector<TsgShare> shares;
    std::map<std::uint32_t, std::size_t> place;
    for (const RunlistItem &item : runlist.items) {
        const auto *const tsg = std::get_if<Tsg>(&item);
        if (!tsg)
            continue;
        const auto [at, is_new] = place.emplace(tsg->id, shares.size());
        if (is_new)
            shares.push_back({tsg->id, std::nullopt, tsg->timeslice_ns, 0});
        shares[at->second].headers++;
    }
    if (!round.known)
        return shares;
    for (TsgShare &share : shares)
        share.share = round.whole ? static_cast<double>(round.of_tsg.at(share.tsg)) /
                                        static_cast<double>(round.whole)
                                  : 0;
    return shares;
}

} // namespace nvdebug
