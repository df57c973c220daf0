// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>

#include "channel_rows.hpp"
#include "commands.hpp"
#include "context.hpp"
#include "json_types.hpp"
#include "reading.hpp"

namespace nvdebugctl {
namespace {

using nvdebug::Detail;
using nvdebug::InstanceBlock;
using nvdebug::Runlist;

Outcome<Document> list(Context &context) {
    const auto lists = read_runlists(context, Detail::brief);
    if (!lists)
        return tl::unexpected(lists.error());
    Json rows = Json::array();
    for (const Runlist &list : *lists)
        for (Json &row : channel_rows(list))
            rows.push_back(std::move(row));
    return Document{rows};
}

const InstanceBlock *instance_of(const Runlist &list, std::uint32_t channel) {
    for (const auto &held : nvdebug::channels_of(list))
        if (held.channel->id == channel && held.channel->instance &&
            !held.channel->instance->same_as_channel)
            return &*held.channel->instance;
    return nullptr;
}

/** With what the file printed below other channels put in its place. */
InstanceBlock resolved(const Runlist &list, const InstanceBlock &printed) {
    InstanceBlock block = printed;
    if (printed.same_as_channel)
        if (const InstanceBlock *const other = instance_of(list, *printed.same_as_channel)) {
            block = *other;
            block.same_as_channel = printed.same_as_channel;
        }
    if (block.subcontexts_as_channel)
        if (const InstanceBlock *const other = instance_of(list, *block.subcontexts_as_channel)) {
            block.subcontexts = other->subcontexts;
            block.subcontext_count = other->subcontext_count;
        }
    if (block.context_as_channel)
        if (const InstanceBlock *const other = instance_of(list, *block.context_as_channel))
            block.context = other->context;
    return block;
}

Outcome<Document> show(Context &context) {
    const nvdebug::Target target = context.targets().front();
    const auto list = find_list_of_channel(context, target, Detail::full);
    if (!list)
        return tl::unexpected(list.error());
    const auto channels = nvdebug::channels_of(*list);
    const auto held = std::ranges::find_if(
        channels, [&](const auto &candidate) { return candidate.channel->id == target.id; });
    Json data = {{"runlist", list->id},
                 {"engines", engines_of(read_engine_names(context), list->id)},
                 {"tsg", held->tsg ? Json(held->tsg->id) : Json()}};
    data.update(channel_state(*held->channel));
    const auto &instance = held->channel->instance;
    data["instance"] = instance ? instance_block(resolved(*list, *instance)) : Json();
    return Document{data};
}

} // namespace

std::vector<Command> channel_commands() {
    return {
        {.object = "channel",
         .verb = "list",
         .help = "every channel of every runlist, or of one",
         .arguments = {{"RUNLIST", Argument::Kind::runlist, "only what this runlist holds",
                        Argument::Count::optional}},
         .columns = channel_columns(),
         .examples = {{"nvdebugctl channel list 0", "the channels of runlist 0"},
                      {"nvdebugctl channel list --csv --columns runlist,channel,enabled",
                       "which channels are enabled, for a script"}},
         .run = list},
        {.object = "channel",
         .verb = "show",
         .help = "one channel: state, instance block, subcontexts, context",
         .arguments = {{"CHANNEL", Argument::Kind::channel,
                        "ID, if one runlist holds it, or RUNLIST:ID"}},
         .notes = {"What the module prints once for several channels (instance block, subcontexts, "
                   "context) is shown in full;",
                   "'... as channel' tells with which channel it is the same."},
         .examples = {{"nvdebugctl channel show 0:5", "channel 5 of runlist 0"}},
         .run = show},
    };
}

} // namespace nvdebugctl
