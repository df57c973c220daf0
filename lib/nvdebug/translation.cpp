// SPDX-License-Identifier: MIT OR GPL-2.0
#include "lib/base/text.hpp"
#include "nvdebug/parse.hpp"

namespace nvdebug {
namespace {

using text::key;
using text::Value;

void set_flags(const Value &value, Translation &to) {
    if (value.unknown())
        return;
    std::string_view rest = value.text;
    for (std::string_view word; !(word = text::take_word(rest)).empty();)
        to.flags.emplace_back(word);
}

constexpr text::Key<Translation> translation_keys[] = {
    key<&Translation::virtual_address>("virtual_address"),
    key<&Translation::page_directory>("page_directory"),
    key<&Translation::page_tables>("page_tables"),
    key<&Translation::result>("result"),
    key<&Translation::page_size>("page_size"),
    {"flags", set_flags},
    key<&Translation::error>("error"),
};

/// Parses a step, `LEVEL[INDEX]: ADDRESS APERTURE RAW MEANING`. Other keys are additions of a newer
/// module and skipped.
void add_step(const Value &value, Translation &to) {
    std::string_view index = value.key;
    const std::string_view level = text::take_until(index, '[');
    if (!index.ends_with(']'))
        return;
    index.remove_suffix(1);
    std::string_view rest = value.text;
    WalkStep step{};
    step.level = level;
    text::read({value.scanner, value.key, index}, step.index);
    text::read({value.scanner, value.key, text::take_word(rest)}, step.entry.address);
    text::read({value.scanner, value.key, text::take_word(rest)}, step.entry.aperture);
    text::read({value.scanner, value.key, text::take_word(rest)}, step.raw);
    text::read({value.scanner, value.key, text::trim(rest)}, step.meaning);
    to.steps.push_back(std::move(step));
}

} // namespace

Result<Translation> parse_translation(std::string_view text) {
    return text::parse_record<Translation>(text, translation_keys, add_step);
}

} // namespace nvdebug
