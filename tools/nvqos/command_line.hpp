// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The options of nvqos: parsing, help and completion come from one table.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "goals.hpp"
#include "lib/base/container_device.hpp"
#include "lib/cli/parse.hpp"
#include "tools/nvqos/serve/container.hpp"

namespace nvqos {

[[nodiscard]] const nvdebug::cli::Program &program();

/// The command line, parsed.
struct Invocation {
    enum class What { run, write_device, hold_container, demo } what = What::run;
    Goals goals;
    std::optional<std::string> file; ///< with goals; SIGHUP has it read again
    Goals typed;                     ///< the goals on the command line
    bool has_epoch = false, has_scheme = false;
    std::optional<qos::Ns> length; ///< --for
    std::optional<std::string> socket;
    ContainerGoal container; ///< --cdi, --hold-container
    std::string cdi_folder = nvdebug::base::device_folder;
    qos::Ns interval = qos::second;
    std::optional<std::string> metrics, decisions; ///< files
    std::vector<std::string> pod_folders;          ///< as nvdebug::base::PodNames takes them
    bool dry_run = false, json = false, quiet = false;
};

/// Reads the command line, and the file that it names, if any.
Outcome<Invocation> read(const nvdebug::cli::Arguments &arguments);
/// Reads the file again, and returns its goals together with those on the command line.
Outcome<Goals> goals_of(const Invocation &invocation);

} // namespace nvqos
