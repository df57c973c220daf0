// SPDX-License-Identifier: MIT OR GPL-2.0
#include "nvdebug/control.hpp"

#include <array>

namespace nvdebug {
namespace {

std::string id_of(const Target &target) {
    return to_string(target);
}
std::string id_of(std::uint32_t id) {
    return std::to_string(id);
}

/** Items with a blank between, each with @p suffix. */
template <typename T>
std::string joined(std::span<const T> items, std::string_view suffix = "") {
    std::string text;
    for (const T &item : items)
        text.append(text.empty() ? "" : " ").append(id_of(item)).append(suffix);
    return text;
}

std::string microseconds(std::uint64_t ns) {
    constexpr std::uint64_t ns_per_us = 1000;
    const std::string decimals = std::to_string(ns_per_us + ns % ns_per_us).substr(1);
    return std::to_string(ns / ns_per_us) + "." + decimals;
}

} // namespace

Request disable_channels(std::span<const Target> channels) {
    return {"disable_channel", joined(channels), true};
}

Request enable_channels(std::span<const Target> channels) {
    return {"enable_channel", joined(channels), true};
}

Request preempt_tsgs(std::span<const Target> tsgs) {
    return {"preempt_tsg", joined(tsgs), false};
}

Request switch_to_tsg(const Target &tsg) {
    return {"switch_to_tsg", to_string(tsg), true};
}

Request set_timeslice(const Target &tsg, std::uint64_t ns) {
    return {"set_timeslice", to_string(tsg) + " " + microseconds(ns), true};
}

Request preempt_runlists(std::span<const std::uint32_t> runlists) {
    return {"preempt_runlist", joined(runlists), false};
}

Request resubmit_runlists(std::span<const std::uint32_t> runlists) {
    return {"resubmit_runlist", joined(runlists), false};
}

Request schedule_runlists(std::span<const std::uint32_t> runlists, bool on) {
    return {"scheduling", joined(runlists, on ? " on" : " off"), true};
}

Request set_preemption_mode(const Target &channel, PreemptionMode mode) {
    constexpr std::array words = {" wfi", " cta", " cilp"};
    return {"preemption_mode", to_string(channel) + words[static_cast<std::size_t>(mode)], true};
}

} // namespace nvdebug
