// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace nvdebugctl {

/// Returns the keys of a command's data, or of its rows, with the keys of the definitions to which
/// the data and the arrays in it refer.
[[nodiscard]] std::vector<Field> data_keys(const Command &command);

/// Returns the JSON schemas of all commands' data, by file name.
[[nodiscard]] std::map<std::string, std::string> schemas(const std::vector<Object> &objects);

} // namespace nvdebugctl
