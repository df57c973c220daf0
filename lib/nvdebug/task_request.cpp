// SPDX-License-Identifier: MIT OR GPL-2.0
#include "task_request.hpp"

#include "lib/base/text.hpp"
#include "nvdebug/task.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>

namespace nvdebug::driver {
namespace {

constexpr Control controls[] = {
    {"disable_channel", Verb::disable, false, "disable"},
    {"enable_channel", Verb::enable, false, "enable"},
    {"preempt_tsg", Verb::preempt, false, "preempt"},
    {"set_timeslice", Verb::timeslice, false, "set the timeslice of"},
    {"pause_task", Verb::disable, true, "pause"},
    {"resume_task", Verb::enable, true, "resume"},
    {"preempt_task", Verb::preempt, true, "preempt"},
    {"set_task_timeslice", Verb::timeslice, true, "set the timeslice of"},
    {"set_task_interleave", Verb::interleave, true, "set the interleave level of"},
    {"set_task_preemption", Verb::mode, true, "set the preemption mode of"},
};

/// Returns whole microseconds. The RM takes no fractions, so decimals are cut off.
std::optional<std::uint64_t> microseconds(std::string_view word) {
    const std::string_view whole = text::take_until(word, '.');
    const bool decimals = word.size() <= 3 && word.find_first_not_of("0123456789") == word.npos;
    const auto us = text::number(whole);
    return us && decimals && !whole.starts_with("0x") ? us : std::nullopt;
}

std::optional<std::uint64_t> parse_value(Verb verb, std::string_view word) {
    const auto number = [](auto value) {
        return value ? std::optional(static_cast<std::uint64_t>(*value)) : std::nullopt;
    };
    switch (verb) {
    case Verb::timeslice:
        return microseconds(word);
    case Verb::interleave:
        return number(parse_interleave(word));
    case Verb::mode:
        return number(parse_preemption_mode(word));
    default:
        return std::nullopt;
    }
}

bool takes_value(Verb verb) {
    return verb == Verb::timeslice || verb == Verb::interleave || verb == Verb::mode;
}

tl::unexpected<Error> invalid_request(std::string_view text, const std::string &why) {
    return tl::unexpected(Error{ErrorCode::invalid, EINVAL, "",
                                "'" + text::quote(text) + "' is no valid request: " + why});
}

} // namespace

std::span<const Control> all_controls() {
    return controls;
}

const Control *find_control(std::string_view file) {
    const auto found = std::ranges::find(controls, file, &Control::file);
    return found == std::end(controls) ? nullptr : found;
}

Result<TaskRequest> parse_request(const Control &control, std::string_view text) {
    TaskRequest request{control};
    std::string_view rest = text;
    request.lease = text::take_prefix(rest, "lease ");
    if (request.lease && control.verb == Verb::preempt)
        return invalid_request(text, "a preemption cannot be undone");
    const auto take_value = [&] {
        if (const auto value = parse_value(control.verb, text::take_word(rest)))
            request.values.push_back(*value);
    };
    if (control.by_process && takes_value(control.verb)) {
        take_value();
        if (request.values.empty())
            return invalid_request(text, "it does not begin with a value to set");
    }
    for (std::string_view word; !(word = text::take_word(rest)).empty();) {
        const auto target = parse_target(word);
        if (!target || (control.by_process && target->runlist))
            return invalid_request(text,
                                   control.by_process ? "it takes pids" : "it takes RUNLIST:ID");
        if (control.by_process && std::ranges::count(request.pids, target->id))
            return invalid_request(text, "it names a process twice");
        if (control.by_process)
            request.pids.push_back(target->id);
        else
            request.targets.push_back(*target);
        if (!control.by_process && takes_value(control.verb)) {
            take_value();
            if (request.values.size() != request.targets.size())
                return invalid_request(text, "a TSG is followed by its timeslice");
        }
    }
    if (request.pids.empty() && request.targets.empty())
        return invalid_request(text, control.by_process ? "it names no process"
                                                        : "it names no channel or TSG");
    constexpr std::uint64_t shortest_us = shortest_timeslice_ns / timeslice_unit_ns,
                            longest_us = longest_timeslice_ns / timeslice_unit_ns;
    if (control.verb == Verb::timeslice)
        for (const std::uint64_t us : request.values)
            if (us < shortest_us || us > longest_us)
                return tl::unexpected(
                    Error{ErrorCode::invalid, ERANGE, "",
                          "through NVIDIA's driver a timeslice is 100 us to 1 s: a switch alone "
                          "takes 84 us"});
    return request;
}

} // namespace nvdebug::driver
