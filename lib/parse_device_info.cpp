// SPDX-License-Identifier: MIT OR GPL-2.0
#include "engine_name.hpp"
#include "nvdebug/parse.hpp"
#include "text.hpp"

namespace nvdebug {

using text::key;

static constexpr text::Key<Engine> columns[] = {
    key<&Engine::type>("engine"),         key<&Engine::instance>("inst"),
    key<&Engine::runlist>("runlist"),     key<&Engine::runlist_base>("runlist_base"),
    key<&Engine::engine_id>("engine_id"), key<&Engine::fault_id>("fault_id"),
    key<&Engine::reset_id>("reset_id"),   key<&Engine::intr_id>("intr_id"),
    key<&Engine::pri_base>("pri_base"),   key<&Engine::pbdmas>("pbdmas"),
};

Result<std::vector<Engine>> parse_device_info(std::string_view text) {
    auto engines = text::parse_table<Engine>(text, columns);
    if (engines)
        for (Engine &engine : *engines)
            engine.name = engine_name(engine.type, engine.instance);
    return engines;
}

} // namespace nvdebug
