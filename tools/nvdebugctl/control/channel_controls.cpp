// SPDX-License-Identifier: MIT OR GPL-2.0
#include "control/commands.hpp"
#include "control/observe.hpp"

namespace nvdebugctl {
namespace {

const Argument kChannels{"CHANNEL", Argument::Kind::channel, "ID or RUNLIST:ID",
                         Argument::Count::some};

Outcome<Document> disable(Context &context) {
    const Targets channels = context.targets();
    return carry_out(context, nvdebug::disable_channels(channels),
                     enabled(context.gpu(), channels));
}

Outcome<Document> enable(Context &context) {
    const Targets channels = context.targets();
    return carry_out(context, nvdebug::enable_channels(channels), enabled(context.gpu(), channels));
}

Outcome<Document> preemption(Context &context) {
    using Mode = nvdebug::PreemptionMode;
    const nvdebug::Target channel = context.targets().front();
    const std::string &word = context.words("MODE").front();
    const Mode mode = word == "wfi" ? Mode::wfi : word == "cta" ? Mode::cta : Mode::cilp;
    return carry_out(context, nvdebug::set_preemption_mode(channel, mode),
                     compute_preemption(context.gpu(), channel));
}

} // namespace

std::vector<Command> channel_controls() {
    return {
        {.object = "channel",
         .verb = "disable",
         .help =
             "have Host skip channels; what is on an engine goes on to the end of its timeslice",
         .arguments = {kChannels},
         .control = true,
         .leasable = true,
         .notes = {"All of the channels are disabled, or none. Their work stays pending."},
         .examples = {{"nvdebugctl channel disable 2 3", "stop a task, without asking it"},
                      {"nvdebugctl channel disable 0:5 --for 10", "for ten seconds"}},
         .check = check_lease_time,
         .run = disable,
         .text = show_control},
        {.object = "channel",
         .verb = "enable",
         .help = "have Host take channels up again",
         .arguments = {kChannels},
         .control = true,
         .leasable = true,
         .notes = {"All of the channels are enabled, or none."},
         .examples = {{"nvdebugctl channel enable 2 3", "let a task go on"}},
         .check = check_lease_time,
         .run = enable,
         .text = show_control},
        {.object = "channel",
         .verb = "preemption",
         .help = "say at which points a channel's context may be interrupted",
         .arguments = {{"CHANNEL", Argument::Kind::channel, "ID or RUNLIST:ID"},
                       {"MODE",
                        Argument::Kind::choice,
                        "when idle (wfi), between thread blocks (cta), at any instruction (cilp)",
                        Argument::Count::one,
                        {"wfi", "cta", "cilp"}}},
         .control = true,
         .leasable = true,
         .notes = {"All channels of a TSG share the context, and so the mode.",
                   "It takes effect when firmware loads the context the next time (inferred)."},
         .examples = {{"nvdebugctl channel preemption 0:5 cilp",
                       "let others interrupt its kernels at any instruction"}},
         .check = check_lease_time,
         .run = preemption,
         .text = show_control},
    };
}

} // namespace nvdebugctl
