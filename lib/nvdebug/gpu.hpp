// SPDX-License-Identifier: MIT OR GPL-2.0
// Files of a GPU, with errors that name this GPU's part in them.
#pragma once

#include <string>
#include <utility>

#include "nvdebug/gpu.hpp"

namespace nvdebug {

Result<std::string> read_file(const Gpu &gpu, const std::string &file);

/// @p error with the reason in `info` for a missing file, or as it was.
Error why_missing(const Gpu &gpu, const std::string &file, Error error);

/// @p error of a parser, with the file it is about.
Error in_file(const Gpu &gpu, const std::string &file, Error error);

template <typename T>
Result<T> parse_file(const Gpu &gpu, const std::string &file,
                     Result<T> (*parse)(std::string_view)) {
    return read_file(gpu, file).and_then([&](const std::string &text) {
        return parse(text).map_error(
            [&](Error error) { return in_file(gpu, file, std::move(error)); });
    });
}

} // namespace nvdebug
