// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Writers of the texts that name a page and its partitions. parse.hpp reads these texts.
#pragma once

#include <string>

#include "parse.hpp"

namespace nvtaskset {

/// Returns a partition in the form that parse_partition() reads.
[[nodiscard]] std::string partition_text(const Partition &partition);

/// Returns a UUID in the form of nvidia-smi: `GPU-` and 36 characters.
[[nodiscard]] std::string uuid_text(const Uuid &uuid);

/// Returns bits in hexadecimal, without leading zeros.
[[nodiscard]] std::string bits_text(const Bits &bits);

/// Returns the value of page_variable.
[[nodiscard]] std::string page_name_text(const PageName &name);

} // namespace nvtaskset
