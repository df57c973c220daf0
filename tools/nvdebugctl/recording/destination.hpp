// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Where a recording goes and in which form, as -o, --format and --summary demand.
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

/// A form and where it goes.
struct Destination {
    const Form &form;
    std::unique_ptr<TextSink> sink;
    RecordingFile file;
};

/// What -o and --format ask for; nullptr: neither was given.
[[nodiscard]] Outcome<const Form *> form_of(const Context &context);

/// Opens it; empty: the recording is not kept.
[[nodiscard]] Outcome<std::optional<Destination>> open_destination(const Context &context,
                                                                   RecordingFile::Appears when);

/// The summary, and a line about the file, unless the recording itself is on standard output.
/// @param destination nullptr: the recording is not kept
[[nodiscard]] Document summary_document(const Context &context, Json summary,
                                        const Destination *destination);

/// --output, --format and --summary.
[[nodiscard]] std::vector<Option> form_options();

} // namespace nvdebugctl
