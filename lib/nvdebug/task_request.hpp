// SPDX-License-Identifier: MIT OR GPL-2.0
// Requests that NVIDIA's driver can carry out, from the text that is written to a control
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
    bool by_process;        ///< its targets are pids, and a value stands before them
    std::string_view words; ///< what is done, for sentences
};

[[nodiscard]] std::span<const Control> all_controls();
/// The control of that file, or nullptr.
[[nodiscard]] const Control *find_control(std::string_view file);

struct TaskRequest {
    const Control &control;
    bool lease = false;
    std::vector<Target> targets = {}; ///< unless Control::by_process
    std::vector<std::uint64_t> values =
        {}; ///< one of each target; by process one of all: us, or the value of an enum
    std::vector<std::uint32_t> pids = {}; ///< if Control::by_process

    /// Are targets TSGs? Else they are channels.
    [[nodiscard]] bool is_of_tsgs() const {
        return control.verb != Verb::disable && control.verb != Verb::enable;
    }
    /// The value for the TSG number @p n of those that are changed.
    [[nodiscard]] std::uint64_t value_of(std::size_t n) const {
        return values[control.by_process ? 0 : n];
    }
};

/// Fails with EINVAL, or ERANGE for a timeslice outside of the limits (nvdebug/task.hpp).
[[nodiscard]] Result<TaskRequest> parse_request(const Control &control, std::string_view text);

} // namespace nvdebug::driver
