// SPDX-License-Identifier: MIT OR GPL-2.0
#include "left_over.hpp"

#include <fmt/format.h>

#include "cli/text.hpp"
#include "lib/base/sudo.hpp"

namespace nvdebugctl {

std::vector<std::string> describe_left_over(const nvdebug::Gpu &gpu) {
    std::vector<std::string> sentences;
    const auto found = gpu.left_overs();
    if (!found)
        return sentences;
    for (const nvdebug::LeftOver &task : found->tasks)
        sentences.push_back(fmt::format(
            "process {} ({}) was left with changes to {} channels and {} TSGs by a keeper that was "
            "killed; 'sudo {} task restore {} --gpu {}' undoes them",
            task.pid, printable(task.command), task.channels, task.tsgs,
            nvdebug::base::name_for_root("nvdebugctl"), task.pid, gpu.index()));
    sentences.insert(sentences.end(), found->troubles.begin(), found->troubles.end());
    return sentences;
}

} // namespace nvdebugctl
