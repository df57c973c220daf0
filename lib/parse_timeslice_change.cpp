// SPDX-License-Identifier: MIT OR GPL-2.0
#include "nvdebug/control.hpp"
#include "text.hpp"

namespace nvdebug {
namespace {

using text::key;

template <auto Member>
void set_us(const text::Value &value, TimesliceChange &to) {
    text::read_us(value, to.*Member);
}

constexpr text::Key<TimesliceChange> keys[] = {
    key<&TimesliceChange::runlist>("runlist"),
    key<&TimesliceChange::tsg>("tsg"),
    {"asked_us", set_us<&TimesliceChange::asked_ns>},
    {"old_us", set_us<&TimesliceChange::old_ns>},
    {"new_us", set_us<&TimesliceChange::new_ns>},
    key<&TimesliceChange::timeout>("timeout"),
    key<&TimesliceChange::scale>("scale"),
    key<&TimesliceChange::headers>("headers"),
};

} // namespace

Result<TimesliceChange> parse_timeslice_change(std::string_view text) {
    return text::parse_record<TimesliceChange>(text, keys);
}

} // namespace nvdebug
