// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Sporadic tasks with CPU and GPU segments, their cores and SMs, and their file
/// (docs/stgm.md).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nvdebug/expected.hpp"
#include "time.hpp"

namespace stgm {

/// A result, or an error of one sentence.
template <typename T>
using Outcome = tl::expected<T, std::string>;

/// A CPU segment, or a GPU segment: a copy to the GPU, a kernel, and a copy back.
struct Segment {
    bool gpu = false;
    Time cpu = 0;
    Time to_device = 0, from_device = 0;
    /// The kernel's time on 1, 2, … SMs, which does not increase. The last time holds for more SMs,
    /// too.
    std::vector<Time> kernel = {};

    /// @param sms 1 or more
    Time kernel_on(std::size_t sms) const {
        return kernel.empty() ? 0 : kernel[std::min(sms, kernel.size()) - 1];
    }
};

struct Task {
    std::string name;
    Time period = 0, deadline = 0;
    std::optional<std::int64_t> priority; ///< larger is higher; all tasks have one, or none has
    std::vector<Segment> segments;
    std::optional<std::uint32_t> core;
    std::optional<std::vector<std::uint32_t>> sms; ///< ascending

    bool uses_gpu() const;
};

struct TaskSet {
    std::string time_unit; ///< `us`, `tick`
    std::uint32_t cores = 0, sms = 0;
    std::vector<Task> tasks;
};

/// Returns the place of each task in the order of priorities, from 0, the highest. The order is
/// deadline-monotonic if tasks have no priorities. Of equal tasks, the first in the file is higher.
std::vector<std::size_t> ranks(const TaskSet &set);

/// Parses the text of a file, which may hold anything.
Outcome<TaskSet> parse(std::string_view text);

/// Returns the set in the form that parse() reads.
nlohmann::ordered_json to_json(const TaskSet &set);

namespace limit {
inline constexpr std::size_t file_bytes = 64 << 20, nesting = 16, tasks = 10'000, segments = 1'000,
                             kernel_entries = 4'096;
inline constexpr std::uint32_t cores = 4'096, sms = 4'096;
} // namespace limit

} // namespace stgm
