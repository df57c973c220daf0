// SPDX-License-Identifier: MIT OR GPL-2.0
#include "governed.hpp"

#include <algorithm>

namespace simulation {

/// Returns the timeslice of a job's tasks at the start.
Ns Governed::first_timeslice(std::size_t job) const {
    return scenario_.jobs[job].timeslice_us.value_or(scenario_.gpus.timeslice_us) * qos::us;
}

void Governed::begin(const std::vector<Task> &tasks) {
    for (std::size_t gpu = 0; gpu < scenario_.gpus.count; gpu++) {
        std::vector<qos::Goal> goals;
        std::vector<std::size_t> tenants(scenario_.jobs.size());
        for (std::size_t job = 0; job < scenario_.jobs.size(); job++)
            if (std::ranges::count(scenario_.jobs[job].gpus, gpu)) {
                tenants[job] = goals.size();
                goals.push_back(scenario_.jobs[job].goal);
            }
        Keeper &keeper = keepers_.emplace_back(gpu, goals);
        for (std::size_t n = 0; n < tasks.size(); n++)
            if (tasks[n].gpu == gpu)
                keeper.add_task(n, tenants[tasks[n].job], first_timeslice(tasks[n].job));
        for (std::size_t job = 0; job < scenario_.jobs.size(); job++)
            if (scenario_.jobs[job].ranks() > 1 && scenario_.jobs[job].gang &&
                std::ranges::count(scenario_.jobs[job].gpus, gpu))
                keeper.set_spans(tenants[job]);
    }
    for (const Task &task : tasks)
        gpus_.push_back(task.gpu);
    gangs_.begin(tasks);
}

void Governed::add_verdicts(Measures &seen) const {
    std::vector<std::size_t> tenants(scenario_.gpus.count); // on each GPU, of the jobs so far
    for (std::size_t job = 0; job < scenario_.jobs.size(); job++)
        for (std::size_t rank = 0; rank < scenario_.jobs[job].ranks(); rank++) {
            const std::size_t gpu = scenario_.jobs[job].gpus[rank];
            seen.jobs[job].ranks[rank].verdicts = keepers_[gpu].verdicts(tenants[gpu]++);
        }
}

Ns Governed::due() const {
    Ns due = gangs_.due();
    for (const Keeper &keeper : keepers_)
        due = std::min(due, keeper.due());
    return due;
}

void Governed::step(Ns now, Driver &driver) {
    for (Keeper &keeper : keepers_)
        if (keeper.due() <= now)
            keeper.step(now, driver);
    if (gangs_.due() <= now)
        gangs_.step(now, driver);
}

void Governed::marked(std::size_t task, bool busy, Ns now) {
    keepers_[gpus_[task]].marked(task, busy, now);
}

void Governed::served(const Request &request, Ns now) {
    keepers_[gpus_[request.task]].served(request, now);
}

} // namespace simulation
