// SPDX-License-Identifier: MIT OR GPL-2.0
#include "nvdebug/task.hpp"
#include "lib/base/text.hpp"
#include "nvdebug/gpu.hpp"

#include <algorithm>

namespace nvdebug {
namespace {

template <typename T>
std::optional<T> parse_word(std::span<const char *const> words, std::string_view word) {
    const auto found = std::ranges::find(words, word);
    return found == words.end() ? std::nullopt
                                : std::optional(static_cast<T>(found - words.begin()));
}

} // namespace

std::optional<Interleave> parse_interleave(std::string_view word) {
    return parse_word<Interleave>(interleave_words, word);
}

std::optional<PreemptionMode> parse_preemption_mode(std::string_view word) {
    return parse_word<PreemptionMode>(preemption_words, word);
}

std::vector<OwnedTsg> tsgs_of(std::span<const OwnedChannel *const> channels) {
    std::vector<OwnedTsg> tsgs;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> known;
    for (const OwnedChannel *const channel : channels) {
        std::size_t at = tsgs.size();
        if (channel->tsg)
            at = known.try_emplace({channel->client, *channel->tsg}, at).first->second;
        if (at == tsgs.size())
            tsgs.emplace_back();
        tsgs[at].push_back(channel);
    }
    return tsgs;
}

std::vector<OwnedTsg> tsgs_of(const Owners &owners, std::uint32_t pid) {
    std::vector<const OwnedChannel *> channels;
    for (const OwnedChannel &channel : owners.channels)
        if (channel.pid == pid)
            channels.push_back(&channel);
    return tsgs_of(channels);
}

OwnersOnLists::OwnersOnLists(Owners owners, std::vector<Runlist> lists)
    : owners_(std::move(owners)) {
    for (const OwnedChannel &channel : owners_.channels)
        if (const Place &place = channel.instance_place; place.address)
            claimants_[{*place.address, place.aperture}].push_back(&channel);
    update(std::move(lists));
}

OwnersOnLists::OwnersOnLists(OwnersOnLists &&other) noexcept = default;
OwnersOnLists &OwnersOnLists::operator=(OwnersOnLists &&other) noexcept = default;
OwnersOnLists::~OwnersOnLists() = default;

void OwnersOnLists::update(std::vector<Runlist> lists) {
    lists_ = std::move(lists);
    places_.clear();
    for (const Runlist &list : lists_)
        for (const auto &[channel, tsg, entries] : channels_of(list)) {
            const auto all = claimants(*channel);
            if (all.empty() || std::ranges::any_of(all, [&](const OwnedChannel *one) {
                    return one->pid != all.front()->pid;
                }))
                continue;
            for (const OwnedChannel *const one : all)
                places_.insert_or_assign(
                    one, RunlistPlace{list.id, tsg ? std::optional(tsg->id) : std::nullopt, channel,
                                      tsg});
        }
}

const RunlistPlace *OwnersOnLists::place_of(const OwnedChannel &channel) const {
    const auto found = places_.find(&channel);
    return found == places_.end() ? nullptr : &found->second;
}

const RunlistPlace *OwnersOnLists::place_of(const OwnedTsg &tsg) const {
    for (const OwnedChannel *const channel : tsg)
        if (const RunlistPlace *const place = place_of(*channel))
            return place;
    return nullptr;
}

std::vector<const OwnedChannel *> OwnersOnLists::claimants(const Channel &channel) const {
    const Place &place = channel.instance_place;
    const auto found =
        place.address ? claimants_.find({*place.address, place.aperture}) : claimants_.end();
    return found == claimants_.end() ? std::vector<const OwnedChannel *>() : found->second;
}

std::optional<std::uint64_t> OwnersOnLists::timeslice_ns(const OwnedTsg &tsg) const {
    constexpr std::uint64_t ns_per_us = 1000, ns_per_driver_us = 1024;
    const RunlistPlace *const place = place_of(tsg);
    if (place && place->header)
        return place->header->timeslice_ns;
    const auto asked = tsg.empty() ? std::nullopt : tsg.front()->timeslice_ns;
    return asked ? std::optional(*asked / ns_per_us * ns_per_driver_us) : std::nullopt;
}

std::vector<const Tsg *> OwnersOnLists::headers_of(const OwnedTsg &tsg) const {
    const RunlistPlace *const place = place_of(tsg);
    if (place && place->tsg)
        for (const Runlist &list : lists_)
            if (list.id == place->runlist)
                for (ListedTsg &listed : nvdebug::tsgs_of(list))
                    if (listed.id == *place->tsg)
                        return std::move(listed.headers);
    return {};
}

std::set<std::uint32_t> OwnersOnLists::sharers(const Target &tsg) const {
    std::set<std::uint32_t> pids;
    for (const auto &[channel, place] : places_)
        if (place.runlist == tsg.runlist && place.tsg == tsg.id)
            pids.insert(channel->pid);
    return pids;
}

std::optional<SharedByProcesses> OwnersOnLists::shared_with_others(Pids pids) const {
    const auto process = [&](std::uint32_t pid) {
        return &*std::ranges::find(owners_.processes, pid, &Process::pid);
    };
    for (const std::uint32_t pid : pids)
        for (const OwnedTsg &tsg : tsgs_of(owners_, pid))
            if (const RunlistPlace *const place = place_of(tsg); place && place->tsg) {
                const Target target{place->runlist, *place->tsg};
                for (const std::uint32_t other : sharers(target))
                    if (!std::ranges::count(pids, other))
                        return SharedByProcesses{target, process(pid), process(other)};
            }
    return std::nullopt;
}

Result<OwnersOnLists> owners_on_lists(const Gpu &gpu, Detail detail) {
    auto owners = gpu.owners();
    if (!owners)
        return tl::unexpected(owners.error());
    const auto info = gpu.info();
    if (!info)
        return tl::unexpected(info.error());
    std::vector<Runlist> lists;
    for (const std::uint32_t id : info->runlists)
        if (auto list = gpu.runlist(id, detail))
            lists.push_back(std::move(*list));
    return OwnersOnLists(std::move(*owners), std::move(lists));
}

std::string to_string(const Process &process) {
    return text::printable(process.command.value_or("")) + "[" + std::to_string(process.pid) + "]";
}

std::string describe_owners(const Owners &owners) {
    constexpr std::size_t most = 8;
    std::set<std::uint32_t> with;
    for (const OwnedChannel &channel : owners.channels)
        with.insert(channel.pid);
    std::size_t count = 0;
    std::string text;
    for (const Process &process : owners.processes)
        if (with.contains(process.pid) && count++ < most)
            text += (count > 1 ? ", " : "") + to_string(process);
    if (count > most)
        text += " and " + std::to_string(count - most) + " more";
    return count ? "those that have one: " + text : "no process that may be asked has one";
}

} // namespace nvdebug
