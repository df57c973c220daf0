// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Forms of recordings: NDJSON, CSV, and the page that shows NDJSON as a timeline.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "recorded_events.hpp"

namespace nvdebugctl {

/// A form of recordings, for example `perfetto`.
struct Form {
    std::string name;
    std::vector<std::string> endings; ///< endings of file names: `.pftrace`
    std::unique_ptr<TextSink> (*make)();
};
[[nodiscard]] const std::vector<Form> &forms();
[[nodiscard]] std::unique_ptr<TextSink> make_ndjson();
[[nodiscard]] std::unique_ptr<TextSink> make_csv();
[[nodiscard]] std::unique_ptr<TextSink> make_html();

/// Returns the kinds of lines that NDJSON can have.
[[nodiscard]] std::vector<Field> recording_lines();

} // namespace nvdebugctl
