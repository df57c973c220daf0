// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Parsers of the texts that name a page and its partitions. text.hpp writes these texts.
#pragma once

#include <optional>
#include <string_view>
#include <sys/types.h>

#include "state.hpp"

namespace nvtaskset {

/// Parses `GPU-01234567-…:DISABLED:EXISTS:SMS:LARGEST_GPC`, with bits in hexadecimal.
[[nodiscard]] std::optional<Partition> parse_partition(std::string_view text);

/// Parses a UUID in the form of nvidia-smi: `GPU-` and 36 characters.
[[nodiscard]] std::optional<Uuid> parse_uuid(std::string_view text);

/// Parses bits in hexadecimal.
[[nodiscard]] std::optional<Bits> parse_bits(std::string_view text);

/// The name of a page: a descriptor of a process, and the inode that its file must have.
struct PageName {
    pid_t pid = 0;
    int descriptor = -1;
    ino_t inode = 0;
};

/// Parses the value of page_variable.
[[nodiscard]] std::optional<PageName> parse_page_name(std::string_view text);

/// Returns the text up to @p end, and removes it and @p end from @p rest.
std::string_view take_until(std::string_view &rest, char end);

} // namespace nvtaskset
