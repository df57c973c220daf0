// SPDX-License-Identifier: MIT OR GPL-2.0
#include "choice.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "messages.hpp"

namespace nvtaskset {
namespace {

/// TPCs that other tasks have on the GPU.
Tpcs taken(const GpuMap &map, const std::vector<Task> &others) {
    std::set<std::uint32_t> found;
    for (const Task &task : others)
        if (const Slot *const slot = task.page->find(map.uuid))
            if (const auto partition = read_partition(*slot))
                for (const std::uint32_t tpc : tpcs_of(map, *partition))
                    found.insert(tpc);
    return {found.begin(), found.end()};
}

/// Its TPCs, of those that others leave.
Outcome<Tpcs> chosen_tpcs(const Options &options, const Target &target,
                          const std::vector<Task> &others) {
    if (target.count) {
        // Others' TPCs are taken only where there are not enough, unless that is not wanted at all.
        if (const auto free =
                choose(target.map, target.count, taken(target.map, others), options.placement);
            free || options.exclusive)
            return free;
        return choose(target.map, target.count, {}, options.placement);
    }
    if (options.exclusive)
        for (const Task &task : others) {
            const Slot *const slot = task.page->find(target.map.uuid);
            const auto partition = slot ? read_partition(*slot) : std::nullopt;
            Tpcs both;
            if (partition)
                std::ranges::set_intersection(target.tpcs, tpcs_of(target.map, *partition),
                                              std::back_inserter(both));
            if (!both.empty())
                return fail("TPCs " + list_text(both) + " are of task " +
                            std::to_string(task.processes.front().pid) + " (" + command_of(task) +
                            "); choose others ('nvtaskset --list'), or leave out --exclusive");
        }
    return target.tpcs;
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
        partitions.push_back(partition_of(target.map, *tpcs));
    }
    return partitions;
}

} // namespace nvtaskset
