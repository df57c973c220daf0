// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file How nvtaskset ends, and results that may be a reason to end.
#pragma once

#include <string>
#include <utility>

#include "nvdebug/expected.hpp"

namespace nvtaskset {

/// Exit statuses: nvdebugctl's, and from 125 on those of env(1) and timeout(1).
enum class Exit {
    done = 0,
    bad_usage = 1,     ///< the words make no sense; nothing was read or changed
    failed = 2,        ///< nothing was done
    not_supported = 3, ///< this GPU or driver cannot be partitioned
    partial = 4,       ///< of some GPUs nothing could be shown
    cannot_run = 126,  ///< COMMAND
    not_found = 127,   ///< COMMAND
};

struct Refusal {
    std::string sentence; ///< what is wrong and what to do
    Exit exit = Exit::failed;
};

template <typename T>
using Outcome = tl::expected<T, Refusal>;

inline tl::unexpected<Refusal> fail(std::string sentence, Exit exit = Exit::failed) {
    return tl::unexpected(Refusal{std::move(sentence), exit});
}

inline tl::unexpected<Refusal> fail(Refusal refusal) {
    return tl::unexpected(std::move(refusal));
}

} // namespace nvtaskset
