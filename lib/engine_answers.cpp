// SPDX-License-Identifier: MIT OR GPL-2.0
#include "nvdebug/answers.hpp"
#include "text.hpp"

namespace nvdebug {

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

bool share_runlist(const Engine &a, const Engine &b) {
    return a.runlist.has_value() && a.runlist == b.runlist;
}

} // namespace nvdebug
