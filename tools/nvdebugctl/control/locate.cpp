// SPDX-License-Identifier: MIT OR GPL-2.0
#include "control/locate.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace nvdebugctl {
namespace {

using nvdebug::Channel;
using nvdebug::Runlist;
using nvdebug::Target;
using nvdebug::Tsg;

bool may_be_on(const Target &target, std::uint32_t runlist) {
    return !target.runlist || *target.runlist == runlist;
}

const Channel *find_channel(const Runlist &runlist, std::uint32_t id) {
    for (const nvdebug::ListedChannel &listed : channels_of(runlist))
        if (listed.channel->id == id)
            return listed.channel;
    return nullptr;
}

tl::unexpected<Failure> several(std::string_view kind, const Target &target,
                                const std::vector<Lists::Found> &found) {
    std::string choices;
    for (const Lists::Found &one : found)
        choices += fmt::format("{}{}:{}", choices.empty() ? "" : ", ", one.runlist->id, target.id);
    return fail(
        nvdebug::ErrorCode::invalid,
        fmt::format("{} {} is on several runlists; say which: {}", kind, target.id, choices));
}

tl::unexpected<Failure> nowhere(std::string_view kind, std::string_view object,
                                const Target &target) {
    return fail(nvdebug::ErrorCode::not_found,
                fmt::format("no runlist holds {} {} now; 'nvdebugctl {} list' shows those that "
                            "there are",
                            kind, to_string(target), object));
}

} // namespace

Outcome<std::vector<std::uint32_t>> known_runlists(const nvdebug::Gpu &gpu,
                                                   std::span<const Target> targets) {
    auto info = gpu.info();
    if (!info)
        return tl::unexpected(Failure(info.error()));
    for (const Target &target : targets)
        if (target.runlist && !std::ranges::count(info->runlists, *target.runlist))
            return fail(nvdebug::ErrorCode::not_found,
                        fmt::format("gpu{} has no runlist {}; 'nvdebugctl runlist list' shows "
                                    "those that there are",
                                    gpu.index(), *target.runlist));
    return std::move(info->runlists);
}

Outcome<Lists> Lists::read(const nvdebug::Gpu &gpu, std::span<const Target> targets,
                           nvdebug::Detail detail) {
    const auto ids = known_runlists(gpu, targets);
    if (!ids)
        return tl::unexpected(ids.error());
    Lists lists;
    for (const std::uint32_t id : *ids) {
        const auto wanted = [id](const Target &target) { return may_be_on(target, id); };
        if (std::ranges::none_of(targets, wanted))
            continue;
        auto runlist = gpu.runlist(id, detail);
        if (!runlist)
            return tl::unexpected(Failure(runlist.error()));
        if (runlist->torn)
            return fail(nvdebug::ErrorCode::busy,
                        fmt::format("{} kept moving while it was read; try again",
                                    gpu.path(fmt::format("runlist{}", id))));
        lists.lists_.emplace(id, std::move(*runlist));
    }
    return lists;
}

std::vector<Lists::Found> Lists::channel(const Target &target) const {
    std::vector<Found> found;
    for (const auto &[id, runlist] : lists_) {
        if (!may_be_on(target, id))
            continue;
        for (const nvdebug::ListedChannel &listed : channels_of(runlist))
            if (listed.channel->id == target.id) {
                found.push_back({&runlist, listed.tsg, listed.channel});
                break;
            }
    }
    return found;
}

std::vector<Lists::Found> Lists::tsg(const Target &target) const {
    std::vector<Found> found;
    for (const auto &[id, runlist] : lists_) {
        if (!may_be_on(target, id))
            continue;
        for (const nvdebug::RunlistItem &item : runlist.items)
            if (const Tsg *tsg = std::get_if<Tsg>(&item); tsg && tsg->id == target.id) {
                found.push_back({&runlist, tsg, nullptr});
                break;
            }
    }
    return found;
}

Outcome<void> unambiguous_channel(const Target &target, bool ids_per_runlist,
                                  const std::vector<Lists::Found> &found) {
    if (found.size() > 1)
        return several("channel", target, found);
    if (found.empty() && ids_per_runlist && !target.runlist)
        return nowhere("channel", "channel", target);
    return {};
}

Outcome<void> unambiguous_tsg(const Target &target, const std::vector<Lists::Found> &found) {
    if (found.size() > 1)
        return several("TSG", target, found);
    if (found.empty())
        return nowhere("TSG", "tsg", target);
    return {};
}

const nvdebug::Context *context_of(const Runlist &runlist, const Channel &channel) {
    const Channel *holder = &channel;
    // a reference leads to a channel that was printed in full: two steps at most
    for (int step = 0; step < 2 && holder && holder->instance; ++step) {
        const nvdebug::InstanceBlock &block = *holder->instance;
        if (block.context)
            return &*block.context;
        const auto other = block.same_as_channel ? block.same_as_channel : block.context_as_channel;
        holder = other ? find_channel(runlist, *other) : nullptr;
    }
    return holder && holder->instance && holder->instance->context ? &*holder->instance->context
                                                                   : nullptr;
}

} // namespace nvdebugctl
