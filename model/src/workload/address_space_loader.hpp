// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "base/json_reader.hpp"
#include "workload/workload.hpp"

#include <map>
#include <string>

namespace nvmodel {

Aperture read_aperture(const JsonValue &value);

/// Reads the member "address_spaces" of a workload file. Throws ConfigError.
std::map<std::string, AddressSpaceSpec> read_address_spaces(const JsonValue &value);

} // namespace nvmodel
