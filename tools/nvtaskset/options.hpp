// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The command line of nvtaskset(1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "lib/base/container_device.hpp"
#include "lib/cli/parse.hpp"
#include "lib/partition/gpu_map.hpp"

namespace nvtaskset {

struct Options {
    std::string tpcs, gpcs, size;
    std::optional<std::string> gpu; ///< nullopt: the GPUs that the command sees, or the task has
    Placement placement = Placement::packed;
    bool exclusive = false, whole = false, prepare = false, mps = true, best_effort = false,
         whole_count = false, quiet = false;
    std::uint32_t turn = 0;                 ///< 0: any turn
    std::optional<std::uint32_t> in_flight; ///< 0: no limit
    std::string kernels;                    ///< the folder for launches; empty: they are not noted
    pid_t pid = 0;
    std::string cdi; ///< the name of a device of containers; empty: none is written
    /// The default folder is emptied at boot, because TPCs may differ afterwards.
    std::string cdi_folder = nvdebug::base::device_folder;
    bool cdi_folder_named = false, check_image = false;
    bool list = false, probe = false, quit_mps = false, json = false;
    std::vector<std::string> command;

    bool names_tpcs() const { return !tpcs.empty() || !gpcs.empty() || !size.empty(); }
};

/// The value of --sms: a number of SMs, or a part of them in millionths of a percent.
struct Size {
    std::size_t sms = 0; ///< 0: `percent` is the value
    std::int64_t percent = 0;
};

/// Reads `16` or `25%`.
[[nodiscard]] std::optional<Size> parse_size(const std::string &text);

/// Reads the command line into @p options. Returns a sentence on an error that does not depend on
/// the GPU, or nothing.
[[nodiscard]] std::string read(const nvdebug::cli::Arguments &arguments, Options &options);

/// Returns a sentence on options that contradict each other, or nothing.
[[nodiscard]] std::string contradiction(const Options &options);

} // namespace nvtaskset
