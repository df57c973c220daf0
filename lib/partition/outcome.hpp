// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The exit statuses of nvtaskset, and results that may be a reason to end.
#pragma once

#include <string>
#include <utility>

#include "lib/base/exit_status.hpp"
#include "nvdebug/expected.hpp"

namespace nvtaskset {

/// The exit statuses of all programs (lib/base/exit_status.hpp), and from 125 on the statuses of
/// env(1) and timeout(1).
enum class Exit {
    done = nvdebug::base::exit_status::done,
    bad_usage = nvdebug::base::exit_status::bad_usage, ///< includes GPUs and PIDs that do not exist
    refused = nvdebug::base::exit_status::refused,     ///< others have the TPCs or the process
    not_supported = nvdebug::base::exit_status::not_supported, ///< no GPU can be partitioned
    partial = nvdebug::base::exit_status::partial,             ///< some GPUs could not be shown
    failed = nvdebug::base::exit_status::failed,               ///< the system or CUDA failed
    cannot_run = 126,                                          ///< COMMAND cannot be run
    not_found = 127,                                           ///< COMMAND does not exist
};

struct Refusal {
    std::string sentence; ///< names the problem and a remedy
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
