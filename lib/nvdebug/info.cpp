// SPDX-License-Identifier: MIT OR GPL-2.0
#include "lib/base/text.hpp"
#include "nvdebug/parse.hpp"

namespace nvdebug {
namespace {

using text::key;
using text::Value;

void set_chip(const Value &value, Info &info) {
    if (value.text != "unknown")
        read(value, info.chip);
}

template <int Bar>
void set_bar_size(const Value &value, Info &info) {
    read(value, info.bar_size[Bar]);
}

void set_channel_ids(const Value &value, Info &info) {
    if (value.unknown())
        return;
    if (value.text != "global" && value.text != "per-runlist")
        return value.fail("'global' or 'per-runlist'");
    info.ids_per_runlist = value.text == "per-runlist";
}

/// Reads `0 1 2`, and a note in parentheses after it.
void set_runlists(const Value &value, Info &info) {
    const std::size_t note = std::min(value.text.find('('), value.text.size());
    if (note < value.text.size())
        info.runlists_note = value.text.substr(note);
    std::string_view ids = text::trim(value.text.substr(0, note));
    if (ids == "-")
        return;
    for (std::string_view word; !(word = text::take_word(ids)).empty();)
        text::read({value.scanner, value.key, word}, info.runlists.emplace_back());
}

constexpr text::Key<Info> info_keys[] = {
    {"chip", set_chip},
    key<&Info::chip_id>("chip_id"),
    key<&Info::generation>("generation"),
    key<&Info::revision>("revision"),
    key<&Info::pci_address>("pci_address"),
    key<&Info::pci_id>("pci_id"),
    key<&Info::pci_subsystem>("pci_subsystem"),
    key<&Info::pci_class>("pci_class"),
    {"bar0_size", set_bar_size<0>},
    {"bar1_size", set_bar_size<1>},
    {"bar2_size", set_bar_size<2>},
    key<&Info::driver>("driver"),
    key<&Info::channels>("channels"),
    {"channel_ids", set_channel_ids},
    {"runlists", set_runlists},
    key<&Info::page_tables>("page_tables"),
    key<&Info::video_memory>("video_memory"),
    key<&Info::platform_device>("platform_device").optional(),
    key<&Info::compatible>("compatible").optional(),
};

/// Reads `feature NAME: yes` or `feature NAME: no (REASON)`.
void add_feature(const Value &value, Info &info) {
    std::string_view name = value.key;
    if (!text::take_prefix(name, "feature "))
        return;
    std::string_view rest = value.text;
    const std::string_view word = text::take_word(rest);
    rest = text::trim(rest);
    const bool reason = rest.size() > 2 && rest.front() == '(' && rest.back() == ')';
    if (word != "yes" && !(word == "no" && reason))
        return value.fail("'yes' or 'no (REASON)'");
    info.features.push_back({std::string(name), word == "yes",
                             word == "no" ? std::string(rest.substr(1, rest.size() - 2)) : ""});
}

} // namespace

Result<Info> parse_info(std::string_view text) {
    return text::parse_record<Info>(text, info_keys, add_feature);
}

Result<std::uint64_t> parse_number(std::string_view text) {
    text::Scanner scanner(text);
    std::uint64_t number = 0;
    std::string_view line;
    if (scanner.next(line))
        text::read({scanner, "the first line", text::trim(line)}, number);
    else
        scanner.fail("a number is missing");
    return scanner.finish(number);
}

} // namespace nvdebug
