// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>

#include "channel.hpp"
#include "control/control.hpp"
#include "nvdebug/task.hpp"
#include "objects.hpp"
#include "state/state.hpp"

namespace nvdebugctl {

const std::vector<Column> &channel_columns() {
    static const std::vector<Column> columns = {
        {"runlist", "runlist that holds it", "uint"},
        {"tsg", "TSG it belongs to; null: none, it is bare", "uint?"},
        {"channel", "id of the channel", "uint"},
        {"entries", "how often the list has it: as often as its TSG", "positive", false},
        {"error", "why it has no state: its id is out of range", "string?", false},
        {"enabled", "Host may schedule it", "bool?"},
        {"status", "state in words: IDLE, PENDING, ON_PBDMA, ON_ENG and their combinations",
         "string?"},
        {"status_code", "the hardware's number of the state (Kepler to Turing)", "uint?", false},
        {"next", "it is the next of its TSG or runlist", "bool?"},
        {"busy", "it has work", "bool?"},
        {"pending", "it waits for a PBDMA (Ampere and newer)", "bool?", false},
        {"on_pbdma", "a PBDMA has it (Ampere and newer)", "bool?", false},
        {"on_engine", "an engine has it (Ampere and newer)", "bool?", false},
        {"pbdma_busy", "its PBDMA is busy with it (Ampere and newer)", "bool?", false},
        {"engine_busy", "its engine is busy with it (Ampere and newer)", "bool?", false},
        {"pbdma_faulted", "it faulted on a PBDMA (Volta and newer)", "bool?"},
        {"engine_faulted", "it faulted on an engine (Volta and newer)", "bool?"},
        {"context_reload", "its context is to be loaded again (Ampere and newer)", "bool?", false},
        {"acquire_fail", "a semaphore acquire failed (Ampere and newer)", "bool?", false},
        {"force_context_reload", "FORCE_CTX_RELOAD (Kepler to Turing)", "bool?", false},
        {"enable_set", "ENABLE_SET, which reads 0 (Kepler to Turing)", "bool?", false},
        {"enable_clear", "ENABLE_CLR, which reads 0 (Kepler to Turing)", "bool?", false},
        {"bound", "it has an instance block (Kepler to Turing)", "bool?", false},
        {"runqueue", "runqueue of its entry; null: entries carry none here", "uint?"},
        {"instance_address", "where its instance block is; null: none, or hidden", "address"},
        {"instance_aperture", "aperture of that address: 'vid', 'coh', 'ncoh' or 'invalid'",
         "aperture"},
        {"process",
         "the process that made it; null: not known, or none (the kernel's own), or not asked "
         "(known with --from driver)",
         "process?"},
    };
    return columns;
}

Json channel_rows(const nvdebug::Runlist &list, const nvdebug::Owners &owners) {
    Json rows = Json::array();
    for (const auto &[channel, tsg, entries] : nvdebug::channels_of(list)) {
        Json row = {
            {"runlist", list.id}, {"tsg", tsg ? Json(tsg->id) : Json()}, {"entries", entries}};
        row.update(channel_state(*channel, owners));
        rows.push_back(std::move(row));
    }
    return rows;
}

namespace {

using nvdebug::Detail;
using nvdebug::InstanceBlock;
using nvdebug::Runlist;

Outcome<Document> list_channels(Context &context) {
    OwnersReader reader(context);
    const auto lists = read_runlists(context, Detail::brief);
    if (!lists)
        return tl::unexpected(lists.error());
    const nvdebug::Owners owners = reader.get(context);
    Json rows = Json::array();
    for (const Runlist &list : *lists)
        for (Json &row : channel_rows(list, owners))
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

/// Returns the instance block with its references resolved. The file prints parts that several
/// channels share only once, below one of the channels.
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

Outcome<Document> show_channel(Context &context) {
    OwnersReader reader(context);
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
    data.update(channel_state(*held->channel, reader.get(context)));
    const auto &instance = held->channel->instance;
    data["instance"] = instance ? instance_block(resolved(*list, *instance)) : Json();
    return Document{data};
}

const Argument kChannels{"CHANNEL", Argument::Kind::channel, "ID or RUNLIST:ID",
                         Argument::Count::some};

Outcome<Document> disable_channels(Context &context) {
    const Targets channels = context.targets();
    return carry_out(context, nvdebug::disable_channels(channels),
                     enabled(context.gpu(), channels));
}

Outcome<Document> enable_channels(Context &context) {
    const Targets channels = context.targets();
    return carry_out(context, nvdebug::enable_channels(channels), enabled(context.gpu(), channels));
}

Outcome<Document> preemption(Context &context) {
    const nvdebug::Target channel = context.targets().front();
    const nvdebug::PreemptionMode mode =
        *nvdebug::parse_preemption_mode(context.words("MODE").front());
    return carry_out(context, nvdebug::set_preemption_mode(channel, mode),
                     compute_preemption(context.gpu(), channel));
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
         .data = "channels, each once, by runlist and in list order",
         .type = "[channelState]",
         .fields = {{"runlist", "runlist that holds it", "uint"},
                    {"tsg", "TSG it belongs to; null: none, it is bare", "uint?"},
                    {"entries", "how often the list has it: as often as its TSG", "positive"}},
         .examples = {{"nvdebugctl channel list 0", "the channels of runlist 0"},
                      {"nvdebugctl channel list --csv --columns runlist,channel,enabled",
                       "which channels are enabled, for a script"}},
         .run = list_channels},
        {.object = "channel",
         .verb = "show",
         .help = "one channel: state, instance block, subcontexts, context",
         .arguments = {{"CHANNEL", Argument::Kind::channel,
                        "ID, if one runlist holds it, or RUNLIST:ID"}},
         .type = "channelState",
         .fields =
             {{"runlist", "runlist that holds it", "uint"},
              {"engines", "engines that the runlist serves", "[string]?"},
              {"tsg", "TSG it belongs to; null: none, it is bare", "uint?"},
              {"instance",
               "instance block, subcontexts and context; null: not asked for (--brief), or none",
               "instance?"}},
         .notes = {"What the module prints once for several channels (instance block, subcontexts, "
                   "context) is shown in full; '... as channel' tells with which channel it is "
                   "the same."},
         .examples = {{"nvdebugctl channel show 0:5", "channel 5 of runlist 0"}},
         .run = show_channel},
        {.object = "channel",
         .verb = "disable",
         .help =
             "stop channels: the GPU chooses them no more; what is on an engine stays until its "
             "timeslice ends",
         .arguments = {kChannels},
         .control = true,
         .leasable = true,
         .means = Command::Means::either,
         .notes = {"All of the channels are disabled, or none. Their work stays pending."},
         .examples = {{"nvdebugctl channel disable 2 3", "stop a task, without asking it"},
                      {"nvdebugctl channel disable 0:5 --for 10", "for ten seconds"}},
         .check = check_lease_time,
         .run = disable_channels,
         .text = show_control},
        {.object = "channel",
         .verb = "enable",
         .help = "let the GPU choose channels again",
         .arguments = {kChannels},
         .control = true,
         .leasable = true,
         .means = Command::Means::either,
         .notes = {"All of the channels are enabled, or none."},
         .examples = {{"nvdebugctl channel enable 2 3", "let a task go on"}},
         .check = check_lease_time,
         .run = enable_channels,
         .text = show_control},
        {.object = "channel",
         .verb = "preemption",
         .help = "set at which points a channel's compute work may be interrupted",
         .arguments = {{"CHANNEL", Argument::Kind::channel, "ID or RUNLIST:ID"},
                       {"MODE",
                        Argument::Kind::choice,
                        "when idle (wfi), between thread blocks (cta), at any instruction (cilp)",
                        Argument::Count::one,
                        {nvdebug::preemption_words.begin(), nvdebug::preemption_words.end()}}},
         .control = true,
         .leasable = true,
         .notes = {"All channels of a TSG share the context, and so the mode.",
                   "It takes effect when the GPU's firmware next loads the context; this is "
                   "inferred, not documented."},
         .examples = {{"nvdebugctl channel preemption 0:5 cilp",
                       "let others interrupt its kernels at any instruction"}},
         .check = check_lease_time,
         .run = preemption,
         .text = show_control},
    };
}

} // namespace nvdebugctl
