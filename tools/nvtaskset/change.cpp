// SPDX-License-Identifier: MIT OR GPL-2.0
#include "change.hpp"

#include <algorithm>
#include <cstdio>

#include "choice.hpp"
#include "choice_lock.hpp"
#include "messages.hpp"
#include "task_view.hpp"

namespace nvtaskset {
namespace {

constexpr const char *too_many_gpus =
    "the task has partitions or limits on 16 GPUs already, the most that it can have";

Exit show(const Options &options, const Task &task) {
    Exit exit = Exit::done;
    const auto maps = maps_of(options, exit);
    if (!maps)
        return refuse(options, maps.error());
    if (options.json)
        return print_json(*maps, {&task}, exit);
    bool any = false;
    for (const auto &[gpu, map] : *maps)
        if (const auto there = shown(task, gpu.uuid)) {
            std::printf("GPU %zu: %s\n", gpu.number,
                        describe(map, task.page->state(), *there).c_str());
            any = true;
        }
    // The partition may be on a GPU that is asleep.
    if (!any)
        std::printf(has_partition(task.page->state())
                        ? "no partition on these GPUs\n"
                        : "no partition: it may use all of each GPU\n");
    for (const Process &process : task.processes)
        std::printf("%s\n", line_of(process, task.page->state()).c_str());
    return written(exit);
}

/// Lets the task use the whole GPU again, on each GPU that is named, or on all.
Exit free_task(const Options &options, const Task &task) {
    if (!options.gpu) {
        for (const Slot &slot : task.page->state().slots)
            if (const auto partition = read_partition(slot))
                task.page->clear(partition->uuid);
        return Exit::done;
    }
    auto gpus = Gpus::find();
    const auto chosen = gpus ? select(*gpus, *options.gpu) : fail(gpus.error());
    if (!chosen)
        return refuse(options, chosen.error());
    for (const Gpu &gpu : chosen->gpus)
        if (!task.page->clear(gpu.uuid))
            return refuse(options, {too_many_gpus});
    return Exit::done;
}

/// Limits launches in flight, on each GPU that is named, or on all.
Exit limit_launches(const Options &options, const Task &task) {
    const State &state = task.page->state();
    if (state.limiting < state.attached)
        return refuse(options,
                      {"a process of the task does not limit launches: it has the library of an "
                       "earlier nvtaskset, or a CUDA without events of streams; start it again"});
    auto gpus = Gpus::find();
    const auto chosen = gpus ? select(*gpus, options.gpu.value_or("all")) : fail(gpus.error());
    if (!chosen)
        return refuse(options, chosen.error());
    for (const Gpu &gpu : chosen->gpus)
        if (!task.page->limit(gpu.uuid, *options.in_flight))
            return refuse(options, {too_many_gpus});
    return Exit::done;
}

/// Sets the partitions that the options name.
Exit set_partitions(const Options &options, const Task &task) {
    const auto targets = targets_of_task(options, task);
    if (!targets)
        return refuse(options, targets.error());
    std::optional<ChoiceLock> lock;
    if (options.exclusive || !options.size.empty()) {
        auto taken = ChoiceLock::take();
        if (!taken)
            return refuse(options, taken.error());
        lock.emplace(std::move(*taken));
    }
    std::vector<Task> others = tasks();
    std::erase_if(others,
                  [&](const Task &other) { return other.page->inode() == task.page->inode(); });
    const auto partitions = chosen_partitions(options, *targets, others);
    if (!partitions)
        return refuse(options, partitions.error());
    for (const Partition &partition : *partitions)
        if (!task.page->set(partition))
            return refuse(options, {too_many_gpus});
    task.page->writable()->exclusive = options.exclusive;
    return Exit::done;
}

} // namespace

Exit change_task(const Options &options) {
    const bool changes = options.names_tpcs() || options.whole || options.in_flight;
    const auto task = task_of(options.pid, changes ? Access::change : Access::look);
    if (!task)
        return refuse(options, task.error());
    if (!changes)
        return show(options, *task);
    if (options.whole)
        return free_task(options, *task);
    const Exit exit =
        options.in_flight ? limit_launches(options, *task) : set_partitions(options, *task);
    if (exit != Exit::done)
        return exit;
    // The process with the page may have ended meanwhile.
    if (!look_at(options.pid))
        return refuse(options,
                      {"process " + std::to_string(options.pid) + " has ended", Exit::failed});
    if (std::ranges::none_of(task->processes, &Process::injected))
        note(options, "process " + std::to_string(options.pid) +
                          " has not used CUDA yet; what was set holds when it does");
    return Exit::done;
}

} // namespace nvtaskset
