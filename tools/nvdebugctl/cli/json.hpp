// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The data that a verb found, as JSON. Every form of output is made from it.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "command.hpp"
#include "nvdebug/address_space.hpp"
#include "nvdebug/engine.hpp"
#include "nvdebug/memory.hpp"
#include "nvdebug/owner.hpp"
#include "nvdebug/runlist.hpp"
#include "nvdebug/tree.hpp"

namespace nvdebugctl {

struct Document {
    Json data;
    /// Rows of table and CSV, with the command's columns as keys; empty: data is the rows.
    std::optional<Json> rows = std::nullopt;
    /// Exit status of the answer (`engine shared`, `check`). The data is printed in any case.
    Exit exit = done;
    /// Prints the text form, if that takes more than the data; nullptr: Command::text prints it.
    std::function<void(Page &)> print = nullptr;
    /// Runs once the document is on stdout, for example to hold a lease.
    std::function<Outcome<void>()> then = nullptr;

    const Json &table() const { return rows ? *rows : data; }
};

// These functions convert the library's types to data. Unknown values become null, and addresses
// become strings.

template <typename T>
[[nodiscard]] Json or_null(const std::optional<T> &value) {
    return value ? Json(*value) : Json();
}

/// Returns an address or a mask as `"0x…"`, with at least so many @p digits.
[[nodiscard]] Json hex(std::uint64_t value, std::size_t digits = 1);
template <typename T>
[[nodiscard]] Json hex(const std::optional<T> &value, std::size_t digits = 1) {
    return value ? hex(std::uint64_t{*value}, digits) : Json();
}

/// Digits of a register, or of a word of an entry.
inline constexpr std::size_t digits_of_word = 8;

[[nodiscard]] Json microseconds(std::uint64_t ns);
/// Returns a part between 0 and 1 in percent. It is rounded to thousandths of a percent, unless
/// that gives 0.
[[nodiscard]] Json percent(const std::optional<double> &part);

[[nodiscard]] Json aperture(const std::optional<nvdebug::Aperture> &aperture);
/// Returns `{"address", "aperture"}`.
[[nodiscard]] Json place(const nvdebug::Place &place);
/// Returns for example `tsg:5`.
[[nodiscard]] Json occupant(const std::optional<nvdebug::Occupant> &occupant);
/// Returns the process; nullptr becomes null, for a process that is not known.
[[nodiscard]] Json process(const nvdebug::Process *process);
/// Returns the processes that made the channels, each once, in the order of the channels.
[[nodiscard]] std::vector<nvdebug::Process>
owners_of(const std::vector<const nvdebug::Channel *> &channels, const nvdebug::Owners &owners);
[[nodiscard]] Json processes(const std::vector<nvdebug::Process> &processes);
/// Returns a channel's entry and state, without its instance block.
[[nodiscard]] Json channel_state(const nvdebug::Channel &channel, const nvdebug::Owners &owners);
[[nodiscard]] Json instance_block(const nvdebug::InstanceBlock &instance);
[[nodiscard]] Json address_space(const nvdebug::AddressSpaceUse &use);

// The functions that follow make the document around the data.

[[nodiscard]] Json envelope(const Context &context, Json data);
/// Returns the value of `source.kind`: live, driver, capture or folder.
[[nodiscard]] std::string source_kind(const nvdebug::Tree &tree);
[[nodiscard]] std::string source_kind(nvdebug::Source source, bool has_facts);
/// @param context the command's context; nullptr: parsing of the command line failed before there
/// was one
[[nodiscard]] Json error_document(const Context *context, const Failure &failure);
/// Returns the text of a document, on one line or with line breaks.
[[nodiscard]] std::string to_text(const Json &document, bool pretty);
[[nodiscard]] Json error_to_json(const nvdebug::Error &error);

} // namespace nvdebugctl
