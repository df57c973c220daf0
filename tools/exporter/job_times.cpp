// SPDX-License-Identifier: MIT OR GPL-2.0
#include "job_times.hpp"

namespace nvdebug::exporter {

void JobTimesOfNode::step(const std::vector<std::shared_ptr<Meter>> &meters) {
    for (const auto &meter : meters)
        meter->pass_turns(meter_);
    const auto now = Meter::Clock::now();
    if (now - begin_ < length_)
        return;
    begin_ = now;
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> found;
    for (const MeasuredJob &job : meter_.take())
        if (const auto together = job.times ? job.times->together() : std::nullopt)
            for (const JobProcess &one : job.processes)
                found[{one.gpu, one.process.pid}] = *together;
    const std::scoped_lock held(mutex_);
    together_ = std::move(found);
}

void JobTimesOfNode::add_to(Facts &facts) const {
    const std::scoped_lock held(mutex_);
    for (TaskFacts &task : facts.tasks)
        if (const auto found = together_.find({facts.gpu, task.pid.value_or(0)});
            found != together_.end())
            task.together = found->second;
}

} // namespace nvdebug::exporter
