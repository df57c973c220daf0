// SPDX-License-Identifier: MIT OR GPL-2.0
// The module's parser has to understand the library's requests as they were meant.
#include "decode/targets.h"
#include "decode/timeslice.h"

#include "nvdebug/control.hpp"

#include "fuzz.hpp"

using namespace nvdebug;

namespace {

Target any_target(FuzzedDataProvider &input) {
    Target target{};
    if (input.ConsumeBool())
        target.runlist = input.ConsumeIntegral<std::uint32_t>();
    target.id = input.ConsumeIntegral<std::uint32_t>();
    return target;
}

bool same(const nvdebug_target &parsed, const Target &meant) {
    return parsed.id == meant.id && parsed.has_runlist == meant.runlist.has_value() &&
           (!meant.runlist || parsed.runlist == *meant.runlist);
}

nvdebug_cursor cursor(const Request &request) {
    return {request.text.data(), request.text.data() + request.text.size()};
}

void is_at_end(nvdebug_cursor cur) {
    FUZZ_REQUIRE(!nvdebug_cursor_more(&cur));
}

void targets(const Request &request, const std::vector<Target> &meant) {
    std::vector<nvdebug_target> parsed(NVDEBUG_TARGETS_MAX);
    const int count = nvdebug_targets_parse(request.text.data(), request.text.size(), parsed.data(),
                                            parsed.size());
    if (meant.empty()) {
        FUZZ_REQUIRE(count < 0);
        return;
    }
    FUZZ_REQUIRE(static_cast<std::size_t>(count) == meant.size());
    for (std::size_t i = 0; i < meant.size(); i++)
        FUZZ_REQUIRE(same(parsed[i], meant[i]));
}

/** Takes a target off the request, which has to be @p meant. */
void take_target(nvdebug_cursor &cur, const Target &meant) {
    nvdebug_target parsed;
    FUZZ_REQUIRE(nvdebug_cursor_more(&cur));
    FUZZ_REQUIRE(!nvdebug_cursor_target(&cur, &parsed) && same(parsed, meant));
}

void take_word(nvdebug_cursor &cur, const char *meant) {
    FUZZ_REQUIRE(nvdebug_cursor_more(&cur) && nvdebug_cursor_choice(&cur, &meant, 1) == 0);
}

void timeslice(const Target &tsg, std::uint64_t ns) {
    const Request request = set_timeslice(tsg, ns);
    nvdebug_cursor cur = cursor(request);
    take_target(cur, tsg);
    u64 parsed = 0;
    FUZZ_REQUIRE(nvdebug_cursor_more(&cur) && !nvdebug_cursor_microseconds(&cur, &parsed));
    FUZZ_REQUIRE(parsed == ns);
    is_at_end(cur);
}

void preemption(const Target &channel, PreemptionMode mode) {
    static constexpr const char *words[] = {"wfi", "cta", "cilp"};
    const Request request = set_preemption_mode(channel, mode);
    nvdebug_cursor cur = cursor(request);
    take_target(cur, channel);
    take_word(cur, words[static_cast<int>(mode)]);
    is_at_end(cur);
}

void gates(const std::vector<std::uint32_t> &runlists, bool on) {
    const Request request = schedule_runlists(runlists, on);
    nvdebug_cursor cur = cursor(request);
    for (const std::uint32_t id : runlists) {
        take_target(cur, {{}, id});
        take_word(cur, on ? "on" : "off");
    }
    is_at_end(cur);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    FuzzedDataProvider input(data, size);
    const Target one = any_target(input);
    timeslice(one, input.ConsumeIntegralInRange<std::uint64_t>(0, 4294967295999));
    preemption(one, static_cast<PreemptionMode>(input.ConsumeIntegralInRange(0, 2)));
    targets(switch_to_tsg(one), {one});

    std::vector<Target> many;
    std::vector<Target> bare;
    std::vector<std::uint32_t> runlists;
    while (input.remaining_bytes() && many.size() < 100) {
        many.push_back(any_target(input));
        runlists.push_back(many.back().id);
        bare.push_back({{}, many.back().id});
    }
    targets(disable_channels(many), many);
    targets(enable_channels(many), many);
    targets(preempt_tsgs(many), many);
    targets(preempt_runlists(runlists), bare);
    targets(resubmit_runlists(runlists), bare);
    gates(runlists, input.ConsumeBool());
    return 0;
}
