// SPDX-License-Identifier: MIT OR GPL-2.0
#include "lib/base/text.hpp"
#include "nvdebug/answers.hpp"
#include "nvdebug/parse.hpp"

#include <set>

namespace nvdebug {
namespace {

using text::key;
using text::Value;

/// Returns the name that `engines` prints: `GR0`; `COPY0` (its type names the instance);
/// `TYPE-7:0`.
std::string engine_name(const std::string &type, std::uint32_t instance) {
    if (type.starts_with("TYPE-"))
        return type + ":" + std::to_string(instance);
    const bool named = !type.empty() && type.back() >= '0' && type.back() <= '9';
    return named ? type : type + std::to_string(instance);
}

constexpr text::Key<Engine> engine_columns[] = {
    key<&Engine::type>("engine"),         key<&Engine::instance>("inst"),
    key<&Engine::runlist>("runlist"),     key<&Engine::runlist_base>("runlist_base"),
    key<&Engine::engine_id>("engine_id"), key<&Engine::fault_id>("fault_id"),
    key<&Engine::reset_id>("reset_id"),   key<&Engine::intr_id>("intr_id"),
    key<&Engine::pri_base>("pri_base"),   key<&Engine::pbdmas>("pbdmas"),
};

} // namespace

Result<std::vector<Engine>> parse_device_info(std::string_view text) {
    auto engines = text::parse_table<Engine>(text, engine_columns);
    if (engines)
        for (Engine &engine : *engines)
            engine.name = engine_name(engine.type, engine.instance);
    return engines;
}

namespace text {

/// Reads `tsg:N` or `channel:N`.
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

void set_pbdmas(const Value &value, EngineState &state) {
    std::vector<std::uint32_t> numbers;
    read(value, numbers);
    for (const std::uint32_t number : numbers)
        state.pbdmas.push_back({number, {}, {}, {}, {}});
}

/// Reads a column that has a value for each PBDMA, in the order of `pbdmas`.
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

constexpr text::Key<EngineState> state_columns[] = {
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
    return text::parse_table<EngineState>(text, state_columns);
}

std::map<std::uint32_t, std::vector<const Engine *>>
engines_by_runlist(std::span<const Engine> engines) {
    std::map<std::uint32_t, std::vector<const Engine *>> found;
    for (const Engine &engine : engines)
        if (engine.runlist)
            found[*engine.runlist].push_back(&engine);
    return found;
}

const Engine *find_engine(std::span<const Engine> engines, std::string_view name) {
    const Engine *only = nullptr;
    bool several = false;
    for (const Engine &engine : engines) {
        if (text::same_in_any_case(engine.name, name))
            return &engine;
        if (text::same_in_any_case(engine.type, name)) {
            several = several || only != nullptr;
            only = &engine;
        }
    }
    return several ? nullptr : only;
}

std::vector<SharedPbdma> shared_pbdmas(std::span<const Engine> engines) {
    std::map<std::uint32_t, std::set<std::uint32_t>> served;
    for (const Engine &engine : engines)
        for (const std::uint32_t pbdma : engine.pbdmas)
            if (engine.runlist)
                served[pbdma].insert(*engine.runlist);
    std::vector<SharedPbdma> shared;
    for (const auto &[pbdma, runlists] : served)
        if (runlists.size() > 1)
            shared.push_back({pbdma, {runlists.begin(), runlists.end()}});
    return shared;
}

bool share_runlist(const Engine &a, const Engine &b) {
    return a.runlist.has_value() && a.runlist == b.runlist;
}

} // namespace nvdebug
