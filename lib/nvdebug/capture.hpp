// SPDX-License-Identifier: MIT OR GPL-2.0
// What captures are made of, and trees of them.
#pragma once

#include <map>
#include <string>

#include "tree_impl.hpp"

namespace nvdebug {

struct CaptureContent {
    std::map<std::string, std::string> facts, files;
    std::map<std::string, int> errors;             ///< errno of open
    std::map<std::string, std::string> words = {}; ///< what texts of a driver were made of
};

std::string to_json(const CaptureContent &content);
/// @p path is for errors only.
Result<CaptureContent> capture_from_json(const std::string &json, const std::string &path);

OpenedTree open_capture(const std::string &path, const Advice &advice);
OpenedTree open_capture(int descriptor, const Advice &advice);

} // namespace nvdebug
