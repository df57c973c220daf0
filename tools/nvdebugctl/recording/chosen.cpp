// SPDX-License-Identifier: MIT OR GPL-2.0
#include "chosen.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace nvdebugctl {

bool Chosen::has(std::uint32_t gpu, std::uint32_t pid) const {
    const auto known = chosen_.find({gpu, pid});
    return selection_.empty() || (known != chosen_.end() && known->second);
}

void Chosen::process(std::uint32_t gpu, const RecordedProcess &process) {
    const bool is_chosen = nvdebug::is_selected(selection_, process_of(process));
    chosen_[{gpu, process.pid}] = is_chosen;
    if (is_chosen || selection_.empty())
        to_.process(gpu, process);
}

void Chosen::turn(const Lane &lane, const nvdebug::Turn &turn, const RecordedProcess *process) {
    if (selection_.empty() || (process && has(lane.gpu, process->pid)))
        to_.turn(lane, turn, process);
}

void Chosen::launch(const drawing::Launch &launch) {
    const auto is_its_process = [&](const auto &each) {
        return each.first.second == launch.pid && each.second;
    };
    if (selection_.empty() || std::ranges::any_of(chosen_, is_its_process))
        to_.launch(launch);
}

Json Chosen::cut(Json summary) const {
    if (selection_.empty())
        return summary;
    for (Json &engine : summary["engines"]) {
        Json kept = Json::array();
        for (Json &holder : engine["holders"])
            if (holder["pid"].is_number_unsigned() && has(engine["gpu"], holder["pid"]))
                kept.push_back(std::move(holder));
        engine["holders"] = std::move(kept);
    }
    Json jobs = Json::array();
    for (Json &job : summary["jobs"])
        if (std::ranges::any_of(job["processes"],
                                [&](const Json &one) { return has(one["gpu"], one["pid"]); }))
            jobs.push_back(std::move(job));
    summary["jobs"] = std::move(jobs);
    return summary;
}

} // namespace nvdebugctl
