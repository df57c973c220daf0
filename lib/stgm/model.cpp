// SPDX-License-Identifier: MIT OR GPL-2.0
#include "model.hpp"

#include <numeric>

namespace stgm {

Model::Model(const TaskSet &set) : cores_(set.cores), sms_(set.sms) {
    const std::vector<std::size_t> rank = ranks(set);
    for (std::size_t n = 0; n < set.tasks.size(); n++) {
        const Task &task = set.tasks[n];
        Numbers &mine = tasks_.emplace_back(
            Numbers{.period = task.period, .deadline = task.deadline, .rank = rank[n]});
        mine.core = task.core.value_or(no_core);
        const Segment *before = nullptr;
        for (const Segment &segment : task.segments) {
            // Consecutive CPU segments are one phase. A GPU segment without a CPU segment before it
            // is another, as it begins only when the job has the core at its base priority.
            mine.phases += !before || before->gpu;
            before = &segment;
            if (!segment.gpu) {
                mine.cpu_segments++;
                mine.cpu = add(mine.cpu, segment.cpu);
                continue;
            }
            mine.gpu_segments++;
            mine.gpu.push_back(&segment);
            const Time both = add(segment.to_device, segment.from_device);
            mine.copies = add(mine.copies, both);
            mine.longest_copies = std::max(mine.longest_copies, both);
            mine.longest_copy =
                std::max({mine.longest_copy, segment.to_device, segment.from_device});
        }
        if (task.sms && !task.sms->empty()) {
            set_sms(n, *task.sms);
        } else if (mine.uses_gpu()) {
            std::vector<std::uint32_t> all(sms_);
            std::iota(all.begin(), all.end(), 0);
            set_sms(n, std::move(all));
        }
    }
}

void Model::set_sms(std::size_t task, std::vector<std::uint32_t> sms) {
    Numbers &mine = tasks_[task];
    mine.sms = std::move(sms);
    if (mine.sm_count == mine.sms.size())
        return;
    mine.sm_count = mine.sms.size();
    mine.kernels = mine.longest_kernel = mine.longest_segment = 0;
    for (const Segment *const segment : mine.gpu) {
        const Time kernel = segment->kernel_on(mine.sm_count);
        mine.kernels = add(mine.kernels, kernel);
        mine.longest_kernel = std::max(mine.longest_kernel, kernel);
        mine.longest_segment = std::max(mine.longest_segment,
                                        add(add(segment->to_device, segment->from_device), kernel));
    }
}

Time Model::segments_on(std::size_t task, std::size_t sms) const {
    Time sum = tasks_[task].copies;
    for (const Segment *const segment : tasks_[task].gpu)
        sum = add(sum, segment->kernel_on(sms));
    return sum;
}

} // namespace stgm
