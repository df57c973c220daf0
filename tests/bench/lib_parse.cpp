// SPDX-License-Identifier: MIT OR GPL-2.0
// Measures how long the parsing of runlists takes, for texts with as many channels as GPUs have.
#include <benchmark/benchmark.h>

#include <string>
#include <utility>
#include <vector>

#include "nvdebug/parse.hpp"

namespace {

using Lines = std::vector<std::pair<std::string, std::string>>;

constexpr int channels_per_tsg = 5;

/** Adds a box in the form of the module, 48 columns wide. */
void add_box(std::string &text, std::size_t indent, std::string title, const Lines &lines) {
    constexpr std::size_t width = 48;
    const std::string margin(indent, ' ');
    title = "+- " + title + " ";
    text += margin + title + std::string(width - indent - title.size() - 1, '-') + "+\n";
    for (const auto &[key, value] : lines) {
        const std::size_t room = width - indent - key.size() - value.size() - 5;
        text += margin + "| " + key + ":" + std::string(room, ' ') + value + " |\n";
    }
    text += margin + "+" + std::string(width - indent - 2, '-') + "+\n";
}

void add_channel(std::string &text, int id) {
    add_box(text, 2, "Channel Info " + std::to_string(id),
            {{"Enabled", "1"},
             {"Next", "0"},
             {"Force CTX Reload", "0"},
             {"Enable set", "0"},
             {"Enable clear", "0"},
             {"PBDMA Faulted", "0"},
             {"ENG Faulted", "0"},
             {"Status", "6"},
             {"Busy", "1"},
             {"Status Name", "ON_PBDMA_AND_ENG"},
             {"Bound", "1"},
             {"Runqueue", "-"},
             {"Instance Block", "0x2fc004000"},
             {"Instance Aperture", "vid"}});
}

void add_block(std::string &text) {
    add_box(text, 4, "Instance Block",
            {{"Page Tables", "2"},
             {"Big Page Size (KiB)", "64"},
             {"Page Directory", "0x02fc00b000"},
             {"Page Directory Aperture", "vid"},
             {"Page Directory Volatile", "0"},
             {"VA Limit", "0x1ffffffffffff"},
             {"Target Engine", "0"},
             {"Privileged", "0"},
             {"VEID", "0"},
             {"PASID", "0"},
             {"ATS", "0"},
             {"Engine WFI Pointer", "0x00000120004000"},
             {"Engine WFI Aperture", "vid"},
             {"Engine WFI Mode", "virtual"},
             {"Subcontexts", "as Channel 0"},
             {"Context", "as Channel 0"}});
}

std::string list_of(int channels, bool with_blocks) {
    const int tsgs = channels / channels_per_tsg;
    std::string text;
    add_box(text, 0, "Runlist 0",
            {{"Entries", std::to_string(tsgs + channels)},
             {"TSGs", std::to_string(tsgs)},
             {"Channels", std::to_string(channels)},
             {"Pending", "0"},
             {"Address", "0x2fc000000"},
             {"Aperture", "vid"},
             {"Snapshot", "consistent"}});
    for (int id = 0; id < channels; id++) {
        if (id % channels_per_tsg == 0)
            add_box(text, 0, "TSG Entry " + std::to_string(id / channels_per_tsg),
                    {{"Scale", "3"},
                     {"Timeout", "244"},
                     {"Timeslice (us)", "1998.848"},
                     {"Length", std::to_string(channels_per_tsg)}});
        add_channel(text, id);
        if (with_blocks)
            add_block(text);
    }
    return text;
}

void parse(benchmark::State &state, bool with_blocks) {
    const std::string text = list_of(static_cast<int>(state.range(0)), with_blocks);
    for (auto _ : state) {
        auto list = nvdebug::parse_runlist(text);
        if (!list) {
            state.SkipWithError(list.error().sentence.c_str());
            break;
        }
        benchmark::DoNotOptimize(list);
    }
    using benchmark::Counter;
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
    state.counters["per_channel"] = Counter(static_cast<double>(state.range(0)),
                                            Counter::kIsIterationInvariantRate | Counter::kInvert);
}

void sizes(benchmark::internal::Benchmark *of) {
    for (const int channels : {10, 100, 1000, 4000})
        of->Arg(channels);
    of->Unit(benchmark::kMicrosecond);
}

BENCHMARK_CAPTURE(parse, runlist_brief, false)->Apply(sizes);
BENCHMARK_CAPTURE(parse, runlist, true)->Apply(sizes);

} // namespace
