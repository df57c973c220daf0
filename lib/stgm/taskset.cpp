// SPDX-License-Identifier: MIT OR GPL-2.0
#include "taskset.hpp"

#include <algorithm>
#include <numeric>

namespace stgm {

bool Task::uses_gpu() const {
    return std::ranges::any_of(segments, &Segment::gpu);
}

std::vector<std::size_t> ranks(const TaskSet &set) {
    std::vector<std::size_t> order(set.tasks.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        const Task &one = set.tasks[a], &other = set.tasks[b];
        return one.priority && other.priority ? *one.priority > *other.priority
                                              : one.deadline < other.deadline;
    });
    std::vector<std::size_t> rank(order.size());
    for (std::size_t at = 0; at < order.size(); at++)
        rank[order[at]] = at;
    return rank;
}

nlohmann::ordered_json to_json(const TaskSet &set) {
    using Json = nlohmann::ordered_json;
    Json tasks = Json::array();
    for (const Task &task : set.tasks) {
        Json row{{"name", task.name}, {"period", task.period}, {"deadline", task.deadline}};
        if (task.priority)
            row["priority"] = *task.priority;
        Json &segments = row["segments"] = Json::array();
        for (const Segment &segment : task.segments)
            if (segment.gpu)
                segments.push_back({{"gpu",
                                     {{"to_device", segment.to_device},
                                      {"kernel", segment.kernel},
                                      {"from_device", segment.from_device}}}});
            else
                segments.push_back({{"cpu", segment.cpu}});
        if (task.core)
            row["core"] = *task.core;
        if (task.sms)
            row["sms"] = *task.sms;
        tasks.push_back(std::move(row));
    }
    return {{"schema", "nvstgm/taskset"}, {"schema_version", "1.0"}, {"time_unit", set.time_unit},
            {"cores", set.cores},         {"sms", set.sms},          {"tasks", std::move(tasks)}};
}

} // namespace stgm
