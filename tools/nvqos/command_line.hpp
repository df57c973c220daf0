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

/// What was typed.
struct Invocation {
    enum class What { run, write_device, hold_container, demo } what = What::run;
    Asked asked;
    std::optional<std::string> file; ///< it is read again on SIGHUP
    Asked typed;                     ///< what of asked was not in the file
    bool has_epoch = false, has_scheme = false;
    std::optional<qos::Ns> length; ///< --for
    std::optional<std::string> socket;
    ContainerGoal container; ///< --cdi, --hold-container
    std::string cdi_folder = nvdebug::base::device_folder;
    qos::Ns interval = qos::second;
    std::optional<std::string> metrics; ///< a file
    bool dry_run = false, json = false, quiet = false;
};

/// Reads what was typed, and the file, if there is one.
Outcome<Invocation> read(const nvdebug::cli::Arguments &arguments);
/// What the file has, with what was typed.
Outcome<Asked> goals_of(const Invocation &invocation);

} // namespace nvqos
