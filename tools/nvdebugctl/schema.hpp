// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace nvdebugctl {

/// Keys of the data, or of its rows; with those of the definitions that it and arrays in it refer
/// to.
[[nodiscard]] std::vector<Field> data_keys(const Command &command);

/// JSON schemas of the data of all commands, by file name.
[[nodiscard]] std::map<std::string, std::string> schemas(const std::vector<Object> &objects);

} // namespace nvdebugctl
