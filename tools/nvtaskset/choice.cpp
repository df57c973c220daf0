// SPDX-License-Identifier: MIT OR GPL-2.0
#include "choice.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "messages.hpp"

namespace nvtaskset {
namespace {

/// Returns the TPCs that the task has on the GPU: none if its page (lib/partition/page.hpp) has no
/// slot for the GPU, or no partition in the slot.
Tpcs tpcs_of_task(const GpuMap &map, const Task &task) {
    const Slot *const slot = task.page->find(map.uuid);
    const auto partition = slot ? read_partition(*slot) : std::nullopt;
    return partition ? tpcs_of(map, *partition) : Tpcs();
}

/// Returns the TPCs that other tasks have on the GPU.
Tpcs taken(const GpuMap &map, const std::vector<Task> &others) {
    std::set<std::uint32_t> found;
    for (const Task &task : others)
        for (const std::uint32_t tpc : tpcs_of_task(map, task))
            found.insert(tpc);
    return {found.begin(), found.end()};
}

/// Returns the TPCs of @p tpcs that the task has, too.
Tpcs shared(const GpuMap &map, const Tpcs &tpcs, const Task &task) {
    Tpcs both;
    std::ranges::set_intersection(tpcs, tpcs_of_task(map, task), std::back_inserter(both));
    return both;
}

/// Returns for example `TPCs 5-9 are of task 71 (train)`.
std::string whose(const Tpcs &tpcs, const Task &task) {
    return (tpcs.size() == 1 ? "TPC " + list_text(tpcs) + " is"
                             : "TPCs " + list_text(tpcs) + " are") +
           " of task " + std::to_string(task.processes.front().pid) + " (" + command_of(task) + ")";
}

/// Chooses TPCs of the target beside the other tasks.
Outcome<Tpcs> chosen_tpcs(const Options &options, const Target &target,
                          const std::vector<Task> &others) {
    if (target.count) {
        // TPCs of others are used only if there are not enough free TPCs, and never with
        // --exclusive.
        if (const auto free =
                choose(target.map, target.count, taken(target.map, others), options.placement);
            free || options.exclusive)
            return free;
        return choose(target.map, target.count, {}, options.placement);
    }
    if (options.exclusive)
        for (const Task &task : others)
            if (const Tpcs both = shared(target.map, target.tpcs, task); !both.empty())
                return fail(whose(both, task) +
                            "; choose others ('nvtaskset --list'), or leave out --exclusive");
    return target.tpcs;
}

/// Names the tasks that asked for TPCs of their own, and now share them.
void name_intrusions(const Options &options, const Target &target, const Tpcs &tpcs,
                     const std::vector<Task> &others) {
    for (const Task &task : others)
        if (const Tpcs both = shared(target.map, tpcs, task);
            !both.empty() && task.page->state().exclusive)
            note(options, whose(both, task) +
                              ", which asked for TPCs of its own (--exclusive), and this task has "
                              "them now, too; 'nvtaskset --list' shows which ones are free");
}

} // namespace

Outcome<std::vector<Partition>> chosen_partitions(const Options &options,
                                                  const std::vector<Target> &targets,
                                                  const std::vector<Task> &others) {
    std::vector<Partition> partitions;
    for (const Target &target : targets) {
        const auto tpcs = chosen_tpcs(options, target, others);
        if (!tpcs)
            return fail(tpcs.error());
        name_intrusions(options, target, *tpcs, others);
        partitions.push_back(partition_of(target.map, *tpcs));
    }
    return partitions;
}

} // namespace nvtaskset
