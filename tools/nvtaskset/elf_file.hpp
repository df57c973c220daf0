// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The versions that a C library offers to programs. The file may have any content, so each
/// read is bounded.
#pragma once

#include <optional>
#include <string>

#include "lib/partition/outcome.hpp"

namespace nvtaskset {

/// A C library for programs of this tool's machine.
struct CLibrary {
    /// The N of the newest GLIBC_2.N that the library defines; 0: it has no versions, as musl.
    unsigned minor = 0;
};

/// Reads the versions that the library @p descriptor defines. Returns nullopt if it is for another
/// machine, such as one of 32 bits. Fails with a reason, without the file's name, if the file is no
/// library, is damaged, or has more than 64 MiB.
[[nodiscard]] tl::expected<std::optional<CLibrary>, std::string> read_c_library(int descriptor);

} // namespace nvtaskset
