// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "programs/operation.hpp"
#include "programs/process.hpp"
#include "programs/rules.hpp"
#include "workload/workload.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace nvmodel {

/// What a process puts into one of its channels.
enum class ChannelUse : std::uint8_t { nothing, compute, to_gpu, to_host };

struct ProcessChannel {
    std::optional<std::size_t> process; // none: the driver's own
    ChannelUse use = ChannelUse::nothing;
};

/// TSGs and channels as a driver gives them to processes.
struct ProcessWorkload {
    Workload workload;
    std::vector<ProcessChannel> channels; // in the order of the plan's
};

ProcessWorkload workload_of(std::span<const Process> processes, const Rules &rules);

} // namespace nvmodel
