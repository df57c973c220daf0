// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The options of nvqos: parsing, help and completion come from one table.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "container.hpp"
#include "goals.hpp"
#include "lib/base/container_device.hpp"

namespace nvqos {

struct Option {
    std::string name; ///< `--epoch`
    std::string short_name;
    std::string value; ///< what its value is called; empty: takes none
    std::string help;
    std::vector<std::string> choices = {};
    bool may_lack_value = false; ///< its value stands behind a sign: `--socket`, `--socket=PATH`
};

const std::vector<Option> &options();

/// What was typed.
struct Invocation {
    enum class What { run, help, version, write_device, hold_container } what = What::run;
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

/// The file is read, too.
Outcome<Invocation> parse(const std::vector<std::string> &words);
/// What the file has, with what was typed.
Outcome<Asked> goals_of(const Invocation &invocation);

std::string help();
/// What may stand in place of the last word.
std::vector<std::string> completions(const std::vector<std::string> &words);

} // namespace nvqos
