// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Forms of recordings: NDJSON, CSV, and the page that shows NDJSON as a timeline.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "recorded_events.hpp"

namespace nvdebugctl {

/// A form of recording: `perfetto`.
struct Form {
    std::string name;
    std::vector<std::string> endings; ///< of files: `.pftrace`
    std::unique_ptr<TextSink> (*make)();
};
[[nodiscard]] const std::vector<Form> &forms();
[[nodiscard]] std::unique_ptr<TextSink> make_ndjson();
[[nodiscard]] std::unique_ptr<TextSink> make_csv();
[[nodiscard]] std::unique_ptr<TextSink> make_html();

/// What a line of NDJSON may be: one for each kind.
[[nodiscard]] std::vector<Field> recording_lines();

} // namespace nvdebugctl
