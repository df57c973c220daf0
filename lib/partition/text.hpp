// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Writes the texts that name a page and its partitions; parse.hpp reads them.
#pragma once

#include <string>

#include "parse.hpp"

namespace nvtaskset {

/// As parse_partition() reads it.
[[nodiscard]] std::string partition_text(const Partition &partition);

/// As nvidia-smi writes it: `GPU-` and 36 characters.
[[nodiscard]] std::string uuid_text(const Uuid &uuid);

/// Hexadecimal, without leading zeros.
[[nodiscard]] std::string bits_text(const Bits &bits);

/// The value of page_variable.
[[nodiscard]] std::string page_name_text(const PageName &name);

} // namespace nvtaskset
