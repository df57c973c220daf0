// SPDX-License-Identifier: MIT OR GPL-2.0
// Reads the file of a task set. Its text may be hostile, so strict_json.hpp parses it.
#include <algorithm>
#include <limits>
#include <set>

#include "lib/base/quantity.hpp"
#include "lib/base/strict_json.hpp"
#include "taskset.hpp"

namespace stgm {
namespace {

using nvdebug::base::in_quotes;
using nvdebug::base::Place;
using nvdebug::base::wrong;

/// How a file writes its times.
struct Times {
    bool has_units; ///< a time may be a text with a unit, from version 1.1 on
    bool ticks;     ///< the numbers are no microseconds
};

/// Returns a time of @p text in us. Throws Wrong.
Time time_with_unit(const Place &place, const Times &times, Time least) {
    constexpr std::uint64_t ns_per_us = 1000;
    const std::string text = place.text();
    const auto ns = nvdebug::base::parse_time_ns(text);
    if (!ns)
        wrong(place.where(), in_quotes(text) + " is no time: a whole number, or a text with a "
                                               "unit as \"12ms\"");
    if (!times.has_units)
        wrong(place.where(), "a time with a unit needs \"schema_version\": \"1.1\"");
    if (times.ticks)
        wrong(place.where(), in_quotes(text) + " has a unit, and 'time_unit' is tick");
    if (*ns % ns_per_us)
        wrong(place.where(), in_quotes(text) + " is no whole number of microseconds");
    const auto us = static_cast<Time>(*ns / ns_per_us);
    if (us < least)
        wrong(place.where(), in_quotes(text) + " is less than " + std::to_string(least) + "us");
    return us;
}

Time time(const Place &place, const Times &times, Time least = 0) {
    return place.value.is_string() ? time_with_unit(place, times, least)
                                   : place.number(least, longest_time);
}

std::vector<Time> kernel(const Place &place, const Times &how) {
    if (!place.value.is_array())
        return {time(place, how)};
    std::vector<Time> times;
    for (const Place &item : place.items(limit::kernel_entries)) {
        times.push_back(time(item, how));
        if (times.size() > 1 && times.back() > times[times.size() - 2])
            wrong(item.where(), "a kernel's time increases from " +
                                    std::to_string(times[times.size() - 2]) + " to " +
                                    std::to_string(times.back()) + " with one SM more");
    }
    if (times.empty())
        wrong(place.where(), "is empty");
    return times;
}

Segment segment(const Place &place, const Times &how) {
    place.expect_object({"cpu", "gpu"});
    if (place.has("cpu") == place.has("gpu"))
        wrong(place.where(), "a segment has either 'cpu' or 'gpu'");
    if (place.has("cpu"))
        return {.cpu = time(place.at("cpu"), how)};
    const Place gpu = place.at("gpu");
    gpu.expect_object({"to_device", "kernel", "from_device"});
    return {.gpu = true,
            .to_device = gpu.has("to_device") ? time(gpu.at("to_device"), how) : 0,
            .from_device = gpu.has("from_device") ? time(gpu.at("from_device"), how) : 0,
            .kernel = kernel(gpu.at("kernel"), how)};
}

std::vector<std::uint32_t> sms(const Place &place, std::uint32_t all) {
    std::vector<std::uint32_t> found;
    for (const Place &item : place.items(limit::sms)) {
        const auto sm = static_cast<std::uint32_t>(item.number(0, std::int64_t{all} - 1));
        if (std::ranges::find(found, sm) != found.end())
            wrong(item.where(), "SM " + std::to_string(sm) + " is there twice");
        found.push_back(sm);
    }
    std::ranges::sort(found);
    return found;
}

Task task(const Place &place, const TaskSet &set, const Times &how) {
    place.expect_object({"name", "period", "deadline", "priority", "segments", "core", "sms"});
    Task task;
    task.name = place.at("name").text();
    if (task.name.empty() || task.name.size() > 200)
        wrong(place.at("name").where(), "a name has 1 to 200 bytes");
    task.period = time(place.at("period"), how, 1);
    task.deadline = place.has("deadline") ? time(place.at("deadline"), how, 1) : task.period;
    if (task.deadline > task.period)
        wrong(place.at("deadline").where(), "the deadline " + std::to_string(task.deadline) +
                                                " is after the period " +
                                                std::to_string(task.period));
    if (place.has("priority"))
        task.priority =
            place.at("priority").number(std::numeric_limits<std::int64_t>::min(), endless);
    for (const Place &item : place.at("segments").items(limit::segments))
        task.segments.push_back(segment(item, how));
    if (task.segments.empty())
        wrong(place.at("segments").where(), "is empty");
    if (task.uses_gpu() && !set.sms)
        wrong(place.at("segments").where(), "a GPU segment, and 'sms' of the set is 0");
    // A null `core` or `sms` means the same as a missing one: `allocate` has not set it yet.
    if (place.has("core") && !place.at("core").value.is_null())
        task.core =
            static_cast<std::uint32_t>(place.at("core").number(0, std::int64_t{set.cores} - 1));
    if (place.has("sms") && !place.at("sms").value.is_null()) {
        task.sms = sms(place.at("sms"), set.sms);
        if (!task.uses_gpu() && !task.sms->empty())
            wrong(place.at("sms").where(), "a task without GPU segments has no SMs");
        if (task.uses_gpu() && task.sms->empty())
            wrong(place.at("sms").where(), "a task with GPU segments has one SM at least");
    }
    return task;
}

TaskSet task_set(const Place &place) {
    place.expect_object({"schema", "schema_version", "time_unit", "cores", "sms", "tasks"});
    if (const Place schema = place.at("schema"); schema.text() != "nvstgm/taskset")
        wrong(schema.where(), in_quotes(schema.text()) + " is not 'nvstgm/taskset'");
    const Place version = place.at("schema_version");
    if (version.text() != "1.0" && version.text() != "1.1")
        wrong(version.where(), in_quotes(version.text()) +
                                   " is neither '1.0' nor '1.1', the versions that can be read");
    TaskSet set;
    set.time_unit = place.at("time_unit").text();
    if (set.time_unit != "us" && set.time_unit != "tick")
        wrong(place.at("time_unit").where(),
              in_quotes(set.time_unit) + " is neither 'us' nor 'tick'");
    set.cores = static_cast<std::uint32_t>(place.at("cores").number(1, limit::cores));
    set.sms = static_cast<std::uint32_t>(place.at("sms").number(0, limit::sms));
    const Times how{.has_units = version.text() != "1.0", .ticks = set.time_unit == "tick"};
    std::set<std::string> names;
    for (const Place &item : place.at("tasks").items(limit::tasks)) {
        Task one = task(item, set, how);
        if (!names.insert(one.name).second)
            wrong(item.at("name").where(), "another task is called " + in_quotes(one.name));
        if (!set.tasks.empty() &&
            set.tasks.front().priority.has_value() != one.priority.has_value())
            wrong(item.where(), "either all tasks have a 'priority' or none has");
        set.tasks.push_back(std::move(one));
    }
    if (set.tasks.empty())
        wrong(place.at("tasks").where(), "is empty");
    return set;
}

} // namespace

Outcome<TaskSet> parse(std::string_view text) {
    try {
        const nvdebug::base::Json parsed =
            nvdebug::base::document(text, {.bytes = limit::file_bytes, .nesting = limit::nesting});
        return task_set({parsed, ""});
    } catch (const nvdebug::base::Wrong &error) {
        return tl::unexpected(error.sentence);
    }
}

} // namespace stgm
