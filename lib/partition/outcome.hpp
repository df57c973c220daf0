// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file How nvtaskset ends, and results that may be a reason to end.
#pragma once

#include <string>
#include <utility>

#include "lib/base/exit_status.hpp"
#include "nvdebug/expected.hpp"

namespace nvtaskset {

/// Exit statuses: those of all programs (lib/base/exit_status.hpp), and from 125 on those of env(1)
/// and timeout(1).
enum class Exit {
    done = nvdebug::base::exit_status::done,
    bad_usage = nvdebug::base::exit_status::bad_usage, ///< also a GPU or process that is not there
    refused = nvdebug::base::exit_status::refused,     ///< others have the TPCs or the process
    not_supported = nvdebug::base::exit_status::not_supported, ///< no GPU that can be partitioned
    partial = nvdebug::base::exit_status::partial, ///< of some GPUs nothing could be shown
    failed = nvdebug::base::exit_status::failed,   ///< something of the system's or CUDA's
    cannot_run = 126,                              ///< COMMAND
    not_found = 127,                               ///< COMMAND
};

struct Refusal {
    std::string sentence; ///< what is wrong and what to do
    Exit exit = Exit::refused;
};

template <typename T>
using Outcome = tl::expected<T, Refusal>;

inline tl::unexpected<Refusal> fail(std::string sentence, Exit exit = Exit::refused) {
    return tl::unexpected(Refusal{std::move(sentence), exit});
}

inline tl::unexpected<Refusal> fail(Refusal refusal) {
    return tl::unexpected(std::move(refusal));
}

} // namespace nvtaskset
