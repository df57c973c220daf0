// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Recognizes files that a compression program packed, by their first bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace nvdebug::base {

struct Packing {
    std::string_view program;
    std::string_view magic;
    std::size_t at = 0; ///< bytes before it
};

/// The signatures are from the programs' documentation. No JSON text begins with any of them.
inline constexpr Packing packings[] = {
    {"gzip", std::string_view("\x1f\x8b", 2)},
    {"xz", std::string_view("\xfd"
                            "7zXZ\0",
                            6)},
    {"zstd", "\x28\xb5\x2f\xfd"},
    {"bzip2", "BZh"},
    {"lz4", "\x04\x22\x4d\x18"},
    {"lzma", std::string_view("]\0\0", 3)},
    {"lzip", "LZIP"},
    {"lzop", "\x89LZO"},
    {"compress", "\x1f\x9d"},
    {"zip", "PK\x03\x04"},
    {"7z", "7z\xbc\xaf"},
    {"rar", "Rar!"},
    {"tar", std::string_view("\0ustar", 6), 256},
};

/// Returns the end of a sentence that begins with the file's name; empty: the file is not packed.
inline std::optional<std::string> packing_refused(std::string_view text) {
    for (const Packing &packing : packings)
        if (text.size() > packing.at && text.substr(packing.at).starts_with(packing.magic))
            return "is packed by " + std::string(packing.program) +
                   ": unpack it, and give '-' to read it from a pipe";
    return std::nullopt;
}

} // namespace nvdebug::base
