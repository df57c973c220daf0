// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Reads the texts that name a page and its partitions; text.hpp writes them.
#pragma once

#include <optional>
#include <string_view>
#include <sys/types.h>

#include "state.hpp"

namespace nvtaskset {

/// `GPU-01234567-…:DISABLED:EXISTS:SMS:LARGEST_GPC`; bits in hexadecimal.
[[nodiscard]] std::optional<Partition> parse_partition(std::string_view text);

/// As nvidia-smi writes it: `GPU-` and 36 characters.
[[nodiscard]] std::optional<Uuid> parse_uuid(std::string_view text);

/// Hexadecimal, without leading zeros.
[[nodiscard]] std::optional<Bits> parse_bits(std::string_view text);

/// Where a page is: a descriptor of a process, and which file that has to be.
struct PageName {
    pid_t pid = 0;
    int descriptor = -1;
    ino_t inode = 0;
};

/// The value of page_variable.
[[nodiscard]] std::optional<PageName> parse_page_name(std::string_view text);

/// The text up to @p end, which @p rest loses together with that.
std::string_view take_until(std::string_view &rest, char end);

} // namespace nvtaskset
