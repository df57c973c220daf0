// SPDX-License-Identifier: MIT OR GPL-2.0
// Reads and writes the content of captures, and opens trees of them.
#pragma once

#include <map>
#include <string>

#include "tree_impl.hpp"

namespace nvdebug {

struct CaptureContent {
    std::map<std::string, std::string> facts, files;
    std::map<std::string, int> errors;             ///< errno of open
    std::map<std::string, std::string> words = {}; ///< the words from which the texts of a driver
                                                   ///< were made
};

std::string to_json(const CaptureContent &content);
/// Parses a capture. Errors name @p path, which is not opened.
Result<CaptureContent> capture_from_json(const std::string &json, const std::string &path);

OpenedTree open_capture(const std::string &path, const Advice &advice);
OpenedTree open_capture(int descriptor, const Advice &advice);

} // namespace nvdebug
