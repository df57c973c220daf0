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
    std::optional<std::string> gpu; ///< nullopt: those that the command sees, or the task has
    Placement placement = Placement::packed;
    bool exclusive = false, whole = false, prepare = false, mps = true, best_effort = false,
         whole_count = false, quiet = false;
    std::uint32_t turn = 0;                 ///< 0: any
    std::optional<std::uint32_t> in_flight; ///< 0: no limit
    pid_t pid = 0;
    std::string cdi; ///< the name of a device of containers; empty: none is written
    /// Until the next boot, as UUIDs and TPCs are looked up.
    std::string cdi_folder = nvdebug::base::device_folder;
    bool cdi_folder_named = false, check_image = false;
    bool list = false, probe = false, quit_mps = false, json = false;
    std::vector<std::string> command;

    bool names_tpcs() const { return !tpcs.empty() || !gpcs.empty() || !size.empty(); }
};

/// What --sms takes: a number of SMs, or a part of them in millionths of a percent.
struct Size {
    std::size_t sms = 0; ///< 0: it is a part
    std::int64_t percent = 0;
};

/// Reads `16` or `25%`.
[[nodiscard]] std::optional<Size> parse_size(const std::string &text);

/// Reads what was typed into @p options. Returns what is wrong with it on every GPU; empty:
/// nothing.
[[nodiscard]] std::string read(const nvdebug::cli::Arguments &arguments, Options &options);

/// Returns which options contradict each other; empty: none do.
[[nodiscard]] std::string contradiction(const Options &options);

} // namespace nvtaskset
