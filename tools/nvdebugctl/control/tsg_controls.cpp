// SPDX-License-Identifier: MIT OR GPL-2.0
#include <fmt/format.h>

#include "control/commands.hpp"
#include "control/observe.hpp"
#include "control/timespan.hpp"

namespace nvdebugctl {
namespace {

const Argument kTsg{"TSG", Argument::Kind::tsg, "ID or RUNLIST:ID"};

Outcome<Document> preempt(Context &context) {
    const Targets tsgs = context.targets();
    return carry_out(context, nvdebug::preempt_tsgs(tsgs), on_engines(context.gpu(), tsgs));
}

Outcome<Document> switch_to(Context &context) {
    const nvdebug::Target tsg = context.targets().front();
    return carry_out(context, nvdebug::switch_to_tsg(tsg), listed_beside(context.gpu(), tsg));
}

Outcome<void> check_time(const Context &context) {
    const std::string &time = context.words("TIME").front();
    if (!parse_timespan_ns(time))
        return usage(
            fmt::format("'{}' is no time; want 500us, 2ms, 1.5ms or plain microseconds", time));
    return check_lease_time(context);
}

Outcome<Document> set_timeslice(Context &context) {
    const nvdebug::Target tsg = context.targets().front();
    const auto ns = parse_timespan_ns(context.words("TIME").front());
    return carry_out(context, nvdebug::set_timeslice(tsg, *ns), timeslice(context.gpu(), tsg));
}

} // namespace

std::vector<Command> tsg_controls() {
    Argument tsgs = kTsg;
    tsgs.count = Argument::Count::some;
    return {
        {.object = "tsg",
         .verb = "preempt",
         .help = "end the turn that TSGs have now; each is scheduled again in its turn",
         .arguments = {tsgs},
         .control = true,
         .notes = {"Waits until the hardware has done so, one second at most."},
         .examples = {{"nvdebugctl tsg preempt 0:3", "take the engines from a task, once"}},
         .run = preempt,
         .text = show_control},
        {.object = "tsg",
         .verb = "switch",
         .help = "let only one TSG of its runlist run",
         .arguments = {kTsg},
         .control = true,
         .leasable = true,
         .notes =
             {"'nvdebugctl runlist resubmit' brings the driver's list back; so does the driver, "
              "when it submits one."},
         .examples = {{"nvdebugctl tsg switch 0:3 --for 2",
                       "the runlist to itself for two seconds"}},
         .check = check_lease_time,
         .run = switch_to,
         .text = show_control},
        {.object = "tsg",
         .verb = "timeslice",
         .help = "change how long a TSG's turn is",
         .arguments = {kTsg,
                       {"TIME", Argument::Kind::text,
                        "500us, 2ms, 1.5ms or plain microseconds; from 1.024us to 8.556380160s"}},
         .control = true,
         .leasable = true,
         .notes = {"What is in force is the longest that the hardware can express and that is not "
                   "longer than asked for."},
         .examples = {{"nvdebugctl tsg timeslice 0:3 500us", "half a millisecond a turn"}},
         .check = check_time,
         .run = set_timeslice,
         .text = show_control},
    };
}

} // namespace nvdebugctl
