// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What a verb found as JSON: one set of data, from which every form is made.
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
    /// Rows of table and CSV, keys as the command's columns; empty: data is the rows.
    std::optional<Json> rows = std::nullopt;
    /// Exit status of a finding (`engine shared`, `check`); data is printed all the same.
    Exit exit = done;
    /// Prints the text form where the data alone is not enough; nullptr: Command::print does.
    std::function<void(Page &)> print = nullptr;
    /// Runs once the document is on stdout, for example to hold a lease.
    std::function<Outcome<void>()> then = nullptr;

    const Json &table() const { return rows ? *rows : data; }
};

// From the library's types to data: what is unknown is null, addresses are strings.

template <typename T>
[[nodiscard]] Json or_null(const std::optional<T> &value) {
    return value ? Json(*value) : Json();
}

/// `"0x…"`: addresses and masks. What has fields has all its @p digits.
[[nodiscard]] Json hex(std::uint64_t value, std::size_t digits = 1);
template <typename T>
[[nodiscard]] Json hex(const std::optional<T> &value, std::size_t digits = 1) {
    return value ? hex(std::uint64_t{*value}, digits) : Json();
}

/// Of a register or an entry.
inline constexpr std::size_t digits_of_word = 8;

[[nodiscard]] Json microseconds(std::uint64_t ns);
/// Of a part between 0 and 1; to thousandths of a percent, unless that gives 0.
[[nodiscard]] Json percent(const std::optional<double> &part);

[[nodiscard]] Json aperture(const std::optional<nvdebug::Aperture> &aperture);
/// `{"address", "aperture"}`
[[nodiscard]] Json place(const nvdebug::Place &place);
/// `tsg:5`
[[nodiscard]] Json occupant(const std::optional<nvdebug::Occupant> &occupant);
/// Null: it is not known.
[[nodiscard]] Json process(const nvdebug::Process *process);
/// Of the channels, each once, in their order.
[[nodiscard]] std::vector<nvdebug::Process>
owners_of(const std::vector<const nvdebug::Channel *> &channels, const nvdebug::Owners &owners);
[[nodiscard]] Json processes(const std::vector<nvdebug::Process> &processes);
/// A channel's entry and state, without its instance block.
[[nodiscard]] Json channel_state(const nvdebug::Channel &channel, const nvdebug::Owners &owners);
[[nodiscard]] Json instance_block(const nvdebug::InstanceBlock &instance);
[[nodiscard]] Json address_space(const nvdebug::AddressSpaceUse &use);

// What surrounds the data.

[[nodiscard]] Json envelope(const Context &context, Json data);
/// `source.kind`: live, driver, capture or folder.
[[nodiscard]] std::string source_kind(const nvdebug::Tree &tree);
[[nodiscard]] std::string source_kind(nvdebug::Source source, bool has_facts);
/// @param context is nullptr where the command line was not understood that far.
[[nodiscard]] Json error_document(const Context *context, const Failure &failure);
/// On one line, or with line breaks.
[[nodiscard]] std::string to_text(const Json &document, bool pretty);
[[nodiscard]] Json error_to_json(const nvdebug::Error &error);

} // namespace nvdebugctl
