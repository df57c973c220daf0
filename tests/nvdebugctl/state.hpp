// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Makes up the state of a GPU for tests.
#ifndef NVDEBUG_TESTS_TOOL_UNIT_STATE_HPP
#define NVDEBUG_TESTS_TOOL_UNIT_STATE_HPP

#include <utility>

#include "check/check.hpp"

namespace nvdebugctl::tests {

inline nvdebug::Channel channel(std::uint32_t id, bool enabled = true) {
    nvdebug::Channel made{};
    made.id = id;
    made.enabled = enabled;
    made.status_name = "IDLE";
    return made;
}

inline nvdebug::Tsg tsg(std::uint32_t id, std::vector<nvdebug::Channel> channels,
                        std::uint64_t timeslice_ns = 1'000'000) {
    const auto length = static_cast<std::uint32_t>(channels.size());
    return {id, 3, 128, timeslice_ns, length, false, std::move(channels)};
}

inline nvdebug::Runlist runlist(std::uint32_t id, std::vector<nvdebug::RunlistItem> items) {
    nvdebug::Runlist list{};
    list.id = id;
    list.tsgs = list.channels = 0;
    for (const nvdebug::RunlistItem &item : items) {
        ++list.entries;
        if (auto *group = std::get_if<nvdebug::Tsg>(&item)) {
            ++*list.tsgs;
            *list.channels += static_cast<std::uint32_t>(group->channels.size());
            list.entries += static_cast<std::uint32_t>(group->channels.size());
        } else if (std::holds_alternative<nvdebug::Channel>(item)) {
            ++*list.channels;
        }
    }
    list.items = std::move(items);
    return list;
}

inline nvdebug::Engine engine(const std::string &type, std::uint32_t instance,
                              std::optional<std::uint32_t> on_runlist,
                              std::vector<std::uint32_t> pbdmas = {}) {
    nvdebug::Engine made{};
    made.type = type;
    made.instance = instance;
    made.name = type + std::to_string(instance);
    made.runlist = on_runlist;
    made.pbdmas = std::move(pbdmas);
    return made;
}

inline nvdebug::EngineState on(const std::string &name, std::uint32_t runlist,
                               std::optional<std::uint32_t> tsg) {
    nvdebug::EngineState made{};
    made.engine = name;
    made.runlist = runlist;
    made.status = tsg ? "valid" : "invalid";
    made.busy = tsg.has_value();
    if (tsg)
        made.current = nvdebug::Occupant{nvdebug::Occupant::Kind::tsg, *tsg};
    return made;
}

inline nvdebug::AddressSpaceUse use(std::uint32_t runlist, std::uint32_t tsg, std::uint64_t address,
                                    std::uint32_t veid, std::vector<std::uint32_t> channels,
                                    std::uint32_t spaces = 1) {
    return {runlist,
            tsg,
            spaces > 1,
            spaces,
            {address, nvdebug::Aperture::video},
            veid,
            std::move(channels),
            std::nullopt};
}

inline auto error(nvdebug::ErrorCode code, const std::string &sentence) {
    return tl::unexpected(nvdebug::Error{code, 0, "", sentence});
}

/// Returns a GPU without work. GR0, LCE0 and LCE1 are on runlist 0, LCE2 is on 1, LCE3 on 2. LCE1
/// borrows LCE2's PCE.
inline Facts quiet_gpu() {
    Facts facts;
    facts.state.folder = "/proc/gpu0";
    facts.state.info->runlists = {0, 1, 2};
    facts.state.engines =
        std::vector{engine("GR", 0, 0, {0}), engine("LCE", 0, 0, {0}), engine("LCE", 1, 0, {0}),
                    engine("LCE", 2, 1, {1}), engine("LCE", 3, 2, {2})};
    facts.state.now = std::vector{on("GR0", 0, {}), on("LCE0", 0, {}), on("LCE1", 0, {}),
                                  on("LCE2", 1, {}), on("LCE3", 2, {})};
    facts.state.scheduling = std::map<std::uint32_t, bool>{{0, true}, {1, true}, {2, true}};
    for (std::uint32_t id : facts.state.info->runlists)
        facts.state.runlists.emplace(id, runlist(id, {}));
    facts.copy = nvdebug::CopyTopology{0x7,
                                       {{"LCE0", 0, 0x4, std::nullopt},
                                        {"LCE1", 0, 0, "LCE2"},
                                        {"LCE2", 1, 0x1, std::nullopt},
                                        {"LCE3", 2, 0x2, std::nullopt}}};
    return facts;
}

} // namespace nvdebugctl::tests

#endif
