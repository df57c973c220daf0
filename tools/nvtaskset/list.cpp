// SPDX-License-Identifier: MIT OR GPL-2.0
#include "list.hpp"

#include <algorithm>
#include <cstdio>

#include "lib/partition/text.hpp"
#include "messages.hpp"
#include "targets.hpp"
#include "task_view.hpp"

namespace nvtaskset {
namespace {

void list_gpu(const Gpu &gpu, const GpuMap &map, const std::vector<Task> &running) {
    std::printf("GPU %zu: %s, %s, %s\n", gpu.number, gpu.name.c_str(), gpu.pci_address.c_str(),
                uuid_text(gpu.uuid).c_str());
    std::vector<std::string> cells(map.tpcs.size(), ".");
    std::vector<std::string> legend;
    char letter = 'A';
    for (const Task &task : running) {
        const auto there = shown(task, map.uuid);
        if (!there)
            continue;
        const bool has_partition = there->setting.use == Use::partition;
        const std::string name(1, has_partition ? letter : '-');
        if (has_partition) {
            letter = letter == 'Z'   ? 'a'
                     : letter == 'z' ? '?'
                                     : static_cast<char>(letter + (letter != '?'));
            for (const std::uint32_t tpc : tpcs_of(map, there->setting.partition))
                cells[tpc] = cells[tpc] == "." ? name : "*";
        }
        legend.push_back("  " + name + "  " + std::to_string(task.processes.front().pid) + " (" +
                         command_of(task) + "): " + describe(map, task.page->state(), *there));
        for (const Process &process : task.processes)
            if (process.uses_gpu && !process.injected)
                legend.push_back("     " + line_of(process, task.page->state()));
    }
    for (const std::uint32_t gpc : gpcs(map)) {
        const Tpcs tpcs = *tpcs_of_gpcs(map, {gpc});
        std::string row;
        for (const std::uint32_t tpc : tpcs)
            row += " " + cells[tpc];
        std::printf("  GPC %-2u TPCs %-6s%s\n", gpc, list_text(tpcs).c_str(), row.c_str());
    }
    for (const std::string &line : legend)
        std::printf("%s\n", line.c_str());
    if (std::ranges::count(cells, "*"))
        std::printf("  *  more than one task\n");
}

} // namespace

Exit list_tasks(const Options &options) {
    Exit exit = Exit::done;
    const auto maps = maps_of(options, exit);
    if (!maps)
        return refuse(options, maps.error());
    const std::vector<Task> running = tasks();
    if (options.json) {
        std::vector<const Task *> each;
        for (const Task &task : running)
            each.push_back(&task);
        return print_json(*maps, each, exit);
    }
    for (const auto &[gpu, map] : *maps)
        list_gpu(gpu, map, running);
    return written(exit);
}

} // namespace nvtaskset
