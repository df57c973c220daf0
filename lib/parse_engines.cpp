// SPDX-License-Identifier: MIT OR GPL-2.0
#include "nvdebug/parse.hpp"
#include "text.hpp"

namespace nvdebug {
namespace text {

/** `tsg:N` or `channel:N`. */
static void read(const Value &value, Occupant &to) {
    std::string_view id = value.text;
    to.kind = take_prefix(id, "tsg:") ? Occupant::Kind::tsg : Occupant::Kind::channel;
    if (to.kind == Occupant::Kind::channel && !take_prefix(id, "channel:"))
        return value.fail("'tsg:N' or 'channel:N'");
    read({value.scanner, value.key, id}, to.id);
}

static void read(const Value &value, std::optional<Occupant> &to) {
    if (!value.unknown())
        read(value, to.emplace());
}

} // namespace text

namespace {

using text::key;
using text::Value;

void set_pbdmas(const Value &value, EngineState &state) {
    std::vector<std::uint32_t> numbers;
    read(value, numbers);
    for (const std::uint32_t number : numbers)
        state.pbdmas.push_back({number, {}, {}, {}, {}});
}

/** A column with a value for each PBDMA, in the order of `pbdmas`. */
template <auto Member>
void set_of_pbdmas(const Value &value, EngineState &state) {
    if (state.pbdmas.empty() && value.text == "-")
        return;
    std::string_view rest = value.text;
    for (PbdmaState &pbdma : state.pbdmas)
        text::read({value.scanner, value.key, text::take_until(rest, ',')}, pbdma.*Member);
    if (!rest.empty() || state.pbdmas.empty())
        value.fail("one value for each of 'pbdmas'");
}

constexpr text::Key<EngineState> columns[] = {
    key<&EngineState::engine>("engine"),
    key<&EngineState::runlist>("runlist"),
    key<&EngineState::status>("status"),
    key<&EngineState::current>("current"),
    key<&EngineState::next>("next"),
    key<&EngineState::busy>("busy"),
    key<&EngineState::faulted>("faulted"),
    key<&EngineState::reload>("reload"),
    key<&EngineState::channels>("channel"),
    {"pbdmas", set_pbdmas},
    {"pbdma_status", set_of_pbdmas<&PbdmaState::status>},
    {"pbdma_current", set_of_pbdmas<&PbdmaState::current>},
    {"pbdma_next", set_of_pbdmas<&PbdmaState::next>},
    {"pbdma_channel", set_of_pbdmas<&PbdmaState::channel>},
};

} // namespace

Result<std::vector<EngineState>> parse_engines(std::string_view text) {
    return text::parse_table<EngineState>(text, columns);
}

} // namespace nvdebug
