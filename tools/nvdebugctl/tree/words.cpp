// SPDX-License-Identifier: MIT OR GPL-2.0
#include "tree/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ids.hpp"
#include "units.hpp"

namespace nvdebugctl {

namespace {

ChannelGroup group_of(const nvdebug::Channel &channel) {
    ChannelGroup group{};
    group.disabled = channel.enabled == std::optional(false);
    group.faulted = channel.pbdma_faulted.value_or(false) || channel.engine_faulted.value_or(false);
    std::vector<std::string> words;
    if (channel.error)
        words.push_back(*channel.error);
    if (group.disabled)
        words.push_back("disabled");
    if (channel.pbdma_faulted.value_or(false))
        words.push_back("faulted on PBDMA");
    if (channel.engine_faulted.value_or(false))
        words.push_back("faulted on engine");
    if (channel.status_name && *channel.status_name != "IDLE")
        words.push_back(*channel.status_name);
    group.state = fmt::format("{}", fmt::join(words, ", "));
    return group;
}

std::string name_of(const nvdebug::Place &place) {
    if (!place.address)
        return "hidden";
    std::string text = fmt::format("{:#x}", *place.address);
    return place.aperture ? fmt::format("{} {}", text, nvdebug::name_of(*place.aperture)) : text;
}

} // namespace

std::vector<ChannelGroup> group_channels(const SpaceView &space) {
    std::vector<ChannelGroup> groups;
    for (const nvdebug::Channel *channel : space.channels) {
        ChannelGroup wanted = group_of(*channel);
        auto same = std::find_if(groups.begin(), groups.end(), [&](const ChannelGroup &group) {
            return group.state == wanted.state;
        });
        if (same == groups.end())
            same = groups.insert(groups.end(), wanted);
        same->ids.push_back(channel->id);
    }
    return groups;
}

std::string name_of(const ChannelGroup &group) {
    return fmt::format("{} {}", group.ids.size() == 1 ? "channel" : "channels",
                       fold_ids(group.ids));
}

std::string name_of(const SpaceView &space) {
    if (space.error)
        return fmt::format("address space unknown: {}", *space.error);
    if (!space.page_directory)
        return "address space unknown";
    std::string text = fmt::format("address space {}", name_of(*space.page_directory));
    if (!space.veids.empty())
        text +=
            fmt::format(", VEID{} {}", space.veids.size() == 1 ? "" : "s", fold_ids(space.veids));
    return text;
}

std::string name_of(const TsgView &tsg) {
    if (tsg.id)
        return fmt::format("TSG {}", *tsg.id);
    return fmt::format("channel {} (no TSG)", tsg.spaces.front().channels.front()->id);
}

std::string share_of(const TsgView &tsg) {
    return tsg.share ? shown_percent(*tsg.share * 100) : "-";
}

std::string time_of(std::uint64_t ns) {
    return fmt::format("{}.{:03}us", ns / 1000, ns % 1000);
}

std::string timeslice_of(const TsgView &tsg) {
    if (!tsg.timeslice_ns)
        return "-";
    std::string text = time_of(*tsg.timeslice_ns);
    return tsg.headers == 1 ? text : fmt::format("{} x{}", text, tsg.headers);
}

std::string scheduling_of(const RunlistView &runlist) {
    if (!runlist.scheduling)
        return "";
    return *runlist.scheduling ? "scheduling on" : "scheduling off";
}

std::string size_of(const RunlistView &runlist) {
    std::size_t tsgs = 0, channels = 0;
    for (const TsgView &tsg : runlist.tsgs) {
        tsgs += tsg.id.has_value();
        channels += channel_count(tsg);
    }
    return fmt::format("{}, {}", count_of(tsgs, "TSG"), count_of(channels, "channel"));
}

std::vector<std::string> remarks_on(const RunlistView &runlist) {
    if (!runlist.list)
        return {"could not be read: " + runlist.error.value_or("")};
    std::vector<std::string> remarks;
    if (!runlist.list->channels)
        remarks.push_back("could not be read: its aperture is invalid");
    if (runlist.list->torn)
        remarks.push_back("torn: it moved while it was read, so this is no single list");
    if (runlist.list->pending)
        remarks.push_back("pending: submitted, not yet taken over");
    for (const nvdebug::UnknownEntry *entry : runlist.unknown)
        remarks.push_back(fmt::format("entry {} is neither TSG nor channel: {:#010x}", entry->index,
                                      fmt::join(entry->words, " ")));
    return remarks;
}

std::string name_of_gpu(const State &state) {
    std::string text = state.folder.substr(state.folder.rfind('/') + 1);
    if (!state.info)
        return text;
    text += "  " + state.info->chip.value_or("unknown chip");
    if (state.info->generation)
        text += fmt::format(" ({})", *state.info->generation);
    if (state.info->pci_address)
        text += "  " + *state.info->pci_address;
    return text;
}

} // namespace nvdebugctl
