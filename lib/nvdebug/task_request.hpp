// SPDX-License-Identifier: MIT OR GPL-2.0
// Parses requests that NVIDIA's driver can carry out, from the text that is written to a control
// (docs/nvdebugctl.md).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "nvdebug/control.hpp"
#include "nvdebug/error.hpp"

namespace nvdebug::driver {

enum class Verb { disable, enable, preempt, timeslice, interleave, mode };

/// A file that takes requests.
struct Control {
    std::string_view file;
    Verb verb;
    bool by_process;        ///< the targets are pids, and a value stands before them
    std::string_view words; ///< the verb for sentences: `set the timeslice of`
};

[[nodiscard]] std::span<const Control> all_controls();
/// Returns the control with this file; nullptr: none.
[[nodiscard]] const Control *find_control(std::string_view file);

struct TaskRequest {
    const Control &control;
    bool lease = false;
    std::vector<Target> targets = {}; ///< filled unless Control::by_process
    std::vector<std::uint64_t> values =
        {}; ///< one for each target, or one for all pids: us, or the value of an enum
    std::vector<std::uint32_t> pids = {}; ///< filled if Control::by_process

    /// Returns whether the targets are TSGs; otherwise they are channels.
    [[nodiscard]] bool is_of_tsgs() const {
        return control.verb != Verb::disable && control.verb != Verb::enable;
    }
    /// Returns the value for TSG @p n of the TSGs to change.
    [[nodiscard]] std::uint64_t value_of(std::size_t n) const {
        return values[control.by_process ? 0 : n];
    }
};

/// Parses the text. Fails with EINVAL, or with ERANGE for a timeslice outside of the limits
/// (nvdebug/task.hpp).
[[nodiscard]] Result<TaskRequest> parse_request(const Control &control, std::string_view text);

} // namespace nvdebug::driver
