// SPDX-License-Identifier: MIT OR GPL-2.0
#include "control/commands.hpp"
#include "control/observe.hpp"

namespace nvdebugctl {
namespace {

const Argument kRunlists{"RUNLIST", Argument::Kind::runlist, "a runlist's id",
                         Argument::Count::some};

Outcome<Document> preempt(Context &context) {
    const Ids runlists = context.runlists();
    return carry_out(context, nvdebug::preempt_runlists(runlists),
                     running(context.gpu(), runlists));
}

Outcome<Document> resubmit(Context &context) {
    const Ids runlists = context.runlists();
    return carry_out(context, nvdebug::resubmit_runlists(runlists),
                     listed(context.gpu(), runlists));
}

Outcome<Document> schedule(Context &context, bool on) {
    const Ids runlists = context.runlists();
    return carry_out(context, nvdebug::schedule_runlists(runlists, on),
                     scheduling(context.gpu(), runlists));
}

Outcome<Document> enable(Context &context) {
    return schedule(context, true);
}

Outcome<Document> disable(Context &context) {
    return schedule(context, false);
}

} // namespace

std::vector<Command> runlist_controls() {
    return {
        {.object = "runlist",
         .verb = "preempt",
         .help = "end the turns of all that runs on a runlist's engines now",
         .arguments = {kRunlists},
         .control = true,
         .notes = {"Up to Pascal the list is submitted again, which does the same."},
         .examples = {{"nvdebugctl runlist preempt 0", "have Host choose anew on runlist 0"}},
         .run = preempt,
         .text = show_control},
        {.object = "runlist",
         .verb = "resubmit",
         .help = "have Host fetch a runlist again; undoes 'tsg switch'",
         .arguments = {kRunlists},
         .control = true,
         .examples = {{"nvdebugctl runlist resubmit 0", "the driver's own list is back"}},
         .run = resubmit,
         .text = show_control},
        {.object = "runlist",
         .verb = "enable",
         .help = "let Host schedule from runlists again",
         .arguments = {kRunlists},
         .control = true,
         .leasable = true,
         .examples = {{"nvdebugctl runlist enable 0", "after 'runlist disable 0'"}},
         .check = check_lease_time,
         .run = enable,
         .text = show_control},
        {.object = "runlist",
         .verb = "disable",
         .help = "have Host schedule nothing more from runlists; what runs goes on",
         .arguments = {kRunlists},
         .control = true,
         .leasable = true,
         .examples = {{"nvdebugctl runlist disable 0 --for 0.5", "half a second of quiet"}},
         .check = check_lease_time,
         .run = disable,
         .text = show_control},
    };
}

} // namespace nvdebugctl
