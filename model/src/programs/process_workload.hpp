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

/// The use that a process makes of a channel.
enum class ChannelUse : std::uint8_t { nothing, compute, to_gpu, to_host };

struct ProcessChannel {
    std::optional<std::size_t> process; // none: the driver's own channel
    ChannelUse use = ChannelUse::nothing;
};

/// The TSGs and channels that a driver gives to processes.
struct ProcessWorkload {
    Workload workload;
    std::vector<ProcessChannel> channels; // in the order of the plan's channels
};

ProcessWorkload workload_of(std::span<const Process> processes, const Rules &rules);

} // namespace nvmodel
