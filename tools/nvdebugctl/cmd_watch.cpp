// SPDX-License-Identifier: MIT OR GPL-2.0
#include <fmt/format.h>

#include "commands.hpp"
#include "context.hpp"
#include "watch/watch.hpp"

namespace nvdebugctl {

namespace {

constexpr std::uint32_t default_interval_ms = 500, shortest_interval_ms = 10,
                        longest_interval_ms = 3600 * 1000;

Outcome<WatchPlan> plan_of(const Context &context) {
    WatchPlan plan{std::chrono::milliseconds(default_interval_ms), std::nullopt};
    if (const auto word = context.value("--interval")) {
        const auto interval = parse_id(*word);
        if (!interval || *interval < shortest_interval_ms || *interval > longest_interval_ms)
            return usage(fmt::format("-s {}: an interval is {} to {} milliseconds", *word,
                                     shortest_interval_ms, longest_interval_ms));
        plan.interval = std::chrono::milliseconds(*interval);
    }
    if (const auto word = context.value("--count")) {
        const auto count = parse_id(*word);
        if (!count || *count == 0)
            return usage(fmt::format("-n {}: a number of samples is 1 or more", *word));
        plan.count = *count;
    }
    return plan;
}

Outcome<void> check(const Context &context) {
    return plan_of(context).map([](const WatchPlan &) {});
}

Outcome<Exit> stream(Context &context, Output &output) {
    return watch(context, output, *plan_of(context));
}

} // namespace

std::vector<Command> watch_commands() {
    return {
        {.object = "watch",
         .help = "who is on the engines: live on a terminal, else a JSON document a line",
         .options = {{"--count", "end after so many samples", "COUNT", "-n"},
                     {"--interval", "time between samples; default: 500", "MS", "-s"}},
         .notes =
             {"Keys: q quit, h help, e fold the engines of a runlist, s next order, space "
              "pause.",
              "Residency is estimated from the last samples, 120 at most: in what part of them "
              "the TSG or channel was on the engine. It is null in the first document.",
              "A sample reads 'engines': the status of each engine and PBDMA twice, a register "
              "or two each. Every tenth also reads the lists, without instance blocks: a "
              "few words for each entry and a register for each channel. A register costs "
              "about 1 us of the bus.",
              "Of a capture there is one sample, and of a folder unless -s or -n asks for more."},
         .examples = {{"nvdebugctl watch", "the live view"},
                      {"nvdebugctl watch -s 100 -n 600 > minute.ndjson", "record a minute"},
                      {"nvdebugctl watch | jq -c '.data.engines[] | [.engine, .current]'",
                       "for a program"}},
         .check = check,
         .stream = stream}};
}

} // namespace nvdebugctl
