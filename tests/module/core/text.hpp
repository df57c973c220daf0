// SPDX-License-Identifier: MIT OR GPL-2.0
// Small parsers of files' text. They are independent of the library, like tests/support/text.py.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace core {

using Fields = std::map<std::string, std::string>;

struct Box {
    std::string kind; // "Runlist", "TSG Entry", "Channel Info", "Instance Block", …
    std::optional<unsigned> number;
    std::size_t indent = 0;
    Fields fields;
};

/// Returns the boxes of a runlist file in their order. Anything else in the text fails the test.
[[nodiscard]] std::vector<Box> boxes(const std::string &text);
/// Fails the test if a box of a runlist file stands where none of its kind may, or has a field that
/// boxes of its kind do not have (docs/proc.md).
void expect_known_boxes(const std::string &text);
[[nodiscard]] std::vector<Box> of_kind(const std::vector<Box> &all, const std::string &kind);
/// Returns the boxes of the list itself, without the boxes below channels.
[[nodiscard]] std::vector<Box> entries(const std::string &text);

/// The boxes below one channel.
struct Instance {
    unsigned channel = 0;
    Fields fields;
    std::map<unsigned, Fields> subcontexts; // by VEID
    std::optional<Fields> context;
};
[[nodiscard]] std::vector<Instance> instances(const std::string &text);

/// Parses "key: value" lines.
[[nodiscard]] Fields pairs(const std::string &text);

} // namespace core
