// SPDX-License-Identifier: MIT OR GPL-2.0
#include "sensitivity.hpp"

#include <array>

namespace stgm {
namespace {

constexpr Time thousand = 1000;

/// Returns the largest value from 0 to @p most that fits, if the smaller ones fit, too; empty: none
/// does.
template <typename Fits>
std::optional<Time> largest(Time most, Fits fits) {
    if (!fits(0))
        return std::nullopt;
    Time good = 0;
    while (good < most) {
        const Time middle = most - (most - good) / 2;
        if (fits(middle))
            good = middle;
        else
            most = middle - 1;
    }
    return good;
}

std::span<const Part> parts(const Segment &segment) {
    static constexpr std::array of_cpu{Part::cpu};
    static constexpr std::array of_gpu{Part::to_device, Part::kernel, Part::from_device};
    return segment.gpu ? std::span<const Part>(of_gpu) : std::span<const Part>(of_cpu);
}

/// Returns how many SMs a kernel of the task has in an analysis.
std::size_t sms_of(const TaskSet &set, const Task &task) {
    return task.sms && !task.sms->empty() ? task.sms->size() : set.sms;
}

Time length_of(const Segment &segment, Part part, std::size_t sms) {
    return part == Part::cpu         ? segment.cpu
           : part == Part::to_device ? segment.to_device
           : part == Part::kernel    ? segment.kernel_on(sms)
                                     : segment.from_device;
}

void set_length(Segment &segment, Part part, Time time) {
    if (part == Part::kernel)
        segment.kernel = {time};
    else
        (part == Part::cpu         ? segment.cpu
         : part == Part::to_device ? segment.to_device
                                   : segment.from_device) = time;
}

Room room_of(TaskSet &set, const Options &options, Room room) {
    Segment &segment = set.tasks[room.task].segments[room.segment];
    const Segment before = segment;
    const auto fits = [&](Time time) {
        set_length(segment, room.part, time);
        return schedulable(analyse(set, options));
    };
    // No part of a job that meets its deadline takes longer than the deadline.
    room.most = largest(set.tasks[room.task].deadline, fits);
    set_length(segment, room.part, room.most ? *room.most + 1 : 0);
    const auto bounds = analyse(set, options);
    const auto lacking =
        std::ranges::find_if(bounds, [](const Bound &bound) { return !bound.response; });
    room.first = static_cast<std::size_t>(lacking - bounds.begin());
    segment = before;
    return room;
}

} // namespace

std::size_t parts_of(const Task &task) {
    std::size_t count = 0;
    for (const Segment &segment : task.segments)
        count += parts(segment).size();
    return count;
}

std::vector<Room> rooms(const TaskSet &set, const Options &options,
                        std::span<const std::size_t> tasks) {
    TaskSet changed = set;
    std::vector<Room> found;
    for (const std::size_t task : tasks)
        for (std::size_t n = 0; n < set.tasks[task].segments.size(); n++) {
            const Segment &segment = set.tasks[task].segments[n];
            for (const Part part : parts(segment))
                found.push_back(
                    room_of(changed, options,
                            {.task = task,
                             .segment = n,
                             .part = part,
                             .length = length_of(segment, part, sms_of(set, set.tasks[task]))}));
        }
    return found;
}

std::optional<Time> growth(const TaskSet &set, const Options &options) {
    return largest(most_growth, [&](Time factor) {
        TaskSet changed = set;
        for (Task &task : changed.tasks)
            for (Segment &segment : task.segments)
                for (const Part part : parts(segment)) {
                    const Time length = length_of(segment, part, sms_of(set, task));
                    set_length(segment, part, divide_up(multiply(length, factor), thousand));
                }
        return schedulable(analyse(changed, options));
    });
}

} // namespace stgm
