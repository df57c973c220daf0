// SPDX-License-Identifier: MIT OR GPL-2.0
#include "left_over.hpp"

#include <fmt/format.h>

#include "lib/base/printable.hpp"

namespace nvqos {

void restore_left_over(const nvdebug::Gpu &gpu, std::uint32_t number, bool dry_run,
                       const Warn &warn) {
    const auto found = dry_run ? gpu.left_overs() : gpu.restore({});
    if (!found) {
        if (found.error().code != nvdebug::ErrorCode::denied)
            warn(fmt::format("gpu{}: whether tasks were left changed is not known: {}", number,
                             found.error().sentence));
        return;
    }
    for (const nvdebug::LeftOver &task : found->tasks)
        warn(fmt::format("gpu{}: {}[{}] was left with changes to {} channels and {} TSGs by a "
                         "keeper that was killed{}",
                         number, nvdebug::base::printable(task.command), task.pid, task.channels,
                         task.tsgs,
                         dry_run         ? "; 'nvdebugctl task restore' undoes them"
                         : task.restored ? "; they are undone"
                                         : ""));
    for (const std::string &trouble : found->troubles)
        warn(fmt::format("gpu{}: {}", number, trouble));
}

} // namespace nvqos
