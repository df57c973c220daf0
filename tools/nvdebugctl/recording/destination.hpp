// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The file and the form of a recording, as -o, --format and --summary demand.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/context.hpp"
#include "cli/json.hpp"
#include "forms.hpp"
#include "recording_file.hpp"

namespace nvdebugctl {

/// A recording's form and its file.
struct Destination {
    const Form &form;
    std::unique_ptr<TextSink> sink;
    RecordingFile file;
};

/// Returns the form that -o and --format ask for; nullptr: neither option was given.
[[nodiscard]] Outcome<const Form *> form_of(const Context &context);

/// Opens the file that the options name; empty: the recording is not kept.
[[nodiscard]] Outcome<std::optional<Destination>> open_destination(const Context &context,
                                                                   RecordingFile::Appears when);

/// Returns a document with the summary, and with a line about the file unless the recording itself
/// goes to standard output.
/// @param destination nullptr: the recording is not kept
[[nodiscard]] Document summary_document(const Context &context, Json summary,
                                        const Destination *destination);

/// Returns the options --output, --format and --summary.
[[nodiscard]] std::vector<Option> form_options();

} // namespace nvdebugctl
