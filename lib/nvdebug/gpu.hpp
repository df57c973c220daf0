// SPDX-License-Identifier: MIT OR GPL-2.0
// Reads files of a GPU, with errors that say why this GPU lacks one.
#pragma once

#include <string>
#include <utility>

#include "nvdebug/gpu.hpp"

namespace nvdebug {

Result<std::string> read_file(const Gpu &gpu, const std::string &file);

/// Returns @p error. If the file is missing, the error gets the reason that `info` has.
Error why_missing(const Gpu &gpu, const std::string &file, Error error);

/// Returns @p error of a parser with the path of the file.
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
