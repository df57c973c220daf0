// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Which GPU -g means, and which one without it. */
#ifndef NVDEBUGCTL_GPU_SELECT_HPP
#define NVDEBUGCTL_GPU_SELECT_HPP

#include <optional>
#include <string>

#include "failure.hpp"
#include "nvdebug/gpu.hpp"

namespace nvdebugctl {

struct SelectedGpu {
    nvdebug::Gpu gpu;
    std::string note; ///< a word for the user if there was a choice
};

/** Why there is none in @p tree. */
Failure no_gpu(const nvdebug::Tree &tree);

Outcome<SelectedGpu> select_gpu(const nvdebug::Tree &tree,
                                const std::optional<std::string> &wanted);

} // namespace nvdebugctl

#endif
