// SPDX-License-Identifier: MIT OR GPL-2.0
#include "lib/base/text.hpp"
#include "nvdebug/task.hpp"

#include <charconv>
#include <limits>
#include <utility>

namespace nvdebug {
namespace {

std::string id_of(const Target &target) {
    return to_string(target);
}
std::string id_of(std::uint32_t id) {
    return std::to_string(id);
}

/// Joins the items with blanks, each with @p suffix.
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
    return {"preemption_mode", to_string(channel) + " " + name_of(mode), true};
}

Request pause_tasks(Pids pids) {
    return {"pause_task", joined(pids), true};
}

Request resume_tasks(Pids pids) {
    return {"resume_task", joined(pids), true};
}

Request preempt_tasks(Pids pids) {
    return {"preempt_task", joined(pids), false};
}

Request set_task_timeslice(Pids pids, std::uint64_t ns) {
    return {"set_task_timeslice", microseconds(ns) + " " + joined(pids), true};
}

Request set_task_interleave(Pids pids, Interleave level) {
    return {"set_task_interleave", std::string(name_of(level)) + " " + joined(pids), true};
}

Request set_task_preemption(Pids pids, PreemptionMode mode) {
    return {"set_task_preemption", std::string(name_of(mode)) + " " + joined(pids), true};
}

Request set_timeslices(std::span<const TsgTimeslice> timeslices) {
    std::string text;
    for (const auto &[tsg, ns] : timeslices)
        text += (text.empty() ? "" : " ") + to_string(tsg) + " " + microseconds(ns);
    return {"set_timeslice", text, true};
}

namespace {

/// Parses a decimal number or `0x…`.
std::optional<std::uint32_t> parse_id(std::string_view text) {
    int base = 10;
    if (text::take_prefix(text, "0x") || text::take_prefix(text, "0X"))
        base = 16;
    else if (text.size() > 1 && text.front() == '0')
        return std::nullopt;
    std::uint32_t id = 0;
    const char *const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, id, base);
    if (error != std::errc() || stop != end)
        return std::nullopt;
    return id;
}

} // namespace

Result<Target> parse_target(std::string_view text) {
    std::string_view rest = text;
    const bool with_runlist = text.find(':') != text.npos;
    const auto first = parse_id(text::take_until(rest, ':'));
    const auto second = with_runlist ? parse_id(rest) : first;
    if (!first || !second)
        return tl::unexpected(Error{ErrorCode::invalid, 0, "",
                                    "'" + text::quote(text) +
                                        "' names no channel or TSG; write ID or RUNLIST:ID, with "
                                        "numbers as 12 or 0xc (not 012)"});
    return Target{with_runlist ? first : std::nullopt, *second};
}

std::string to_string(const Target &target) {
    const std::string id = std::to_string(target.id);
    return target.runlist ? std::to_string(*target.runlist) + ":" + id : id;
}

namespace {

using text::key;

template <auto Member>
void set_us(const text::Value &value, TimesliceChange &to) {
    text::read_us(value, to.*Member);
}

constexpr text::Key<TimesliceChange> keys[] = {
    key<&TimesliceChange::runlist>("runlist"),
    key<&TimesliceChange::tsg>("tsg"),
    {"asked_us", set_us<&TimesliceChange::asked_ns>},
    {"old_us", set_us<&TimesliceChange::old_ns>},
    {"new_us", set_us<&TimesliceChange::new_ns>},
    key<&TimesliceChange::timeout>("timeout"),
    key<&TimesliceChange::scale>("scale"),
    key<&TimesliceChange::headers>("headers"),
};

} // namespace

Result<TimesliceChange> parse_timeslice_change(std::string_view text) {
    return text::parse_record<TimesliceChange>(text, keys);
}

Lease::Lease(std::shared_ptr<const void> held, std::string answer,
             std::shared_ptr<const std::string> left)
    : held_(std::move(held)), answer_(std::move(answer)), left_(std::move(left)) {}

Lease::Lease(Lease &&other) noexcept = default;
Lease &Lease::operator=(Lease &&other) noexcept = default;
Lease::~Lease() = default;

void Lease::end() {
    held_.reset();
}

} // namespace nvdebug
