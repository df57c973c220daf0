// SPDX-License-Identifier: MIT OR GPL-2.0
#include "tree/json.hpp"

#include "json_types.hpp"

namespace nvdebugctl {

namespace {

Json microseconds_or_null(const std::optional<std::uint64_t> &ns) {
    return ns ? microseconds(*ns) : Json();
}

Json json_of(const SpaceView &space) {
    Json channels = Json::array();
    for (const nvdebug::Channel *channel : space.channels)
        channels.push_back(channel_state(*channel));
    return {{"page_directory", space.page_directory ? place(*space.page_directory) : Json()},
            {"veids", space.veids.empty() ? Json() : Json(space.veids)},
            {"error", or_null(space.error)},
            {"channels", channels}};
}

Json json_of(const TsgView &tsg) {
    Json spaces = Json::array();
    for (const SpaceView &space : tsg.spaces)
        spaces.push_back(json_of(space));
    return {
        {"tsg", or_null(tsg.id)},          {"timeslice_us", microseconds_or_null(tsg.timeslice_ns)},
        {"headers", tsg.headers},          {"share_percent", percent(tsg.share)},
        {"may_run", or_null(tsg.may_run)}, {"active_on", or_null(tsg.active_on)},
        {"shared", or_null(tsg.shared)},   {"length", tsg.length},
        {"truncated", tsg.truncated},      {"address_spaces", spaces}};
}

Json json_of(const RunlistView &runlist) {
    Json tsgs = Json::array(), unknown = Json::array();
    for (const TsgView &tsg : runlist.tsgs)
        tsgs.push_back(json_of(tsg));
    for (const nvdebug::UnknownEntry *entry : runlist.unknown) {
        Json words = Json::array();
        for (std::uint32_t word : entry->words)
            words.push_back(hex(word));
        unknown.push_back({{"index", entry->index}, {"words", words}});
    }
    const nvdebug::Runlist *list = runlist.list;
    return {{"runlist", runlist.id},
            {"engines", runlist.engines},
            {"scheduling", or_null(runlist.scheduling)},
            {"entries", list ? Json(list->entries) : Json()},
            {"tsg_count", list ? or_null(list->tsgs) : Json()},
            {"channel_count", list ? or_null(list->channels) : Json()},
            {"pending", list ? Json(list->pending) : Json()},
            {"torn", list ? Json(list->torn) : Json()},
            {"round_us", microseconds_or_null(runlist.round)},
            {"error", or_null(runlist.error)},
            {"tsgs", tsgs},
            {"unknown_entries", unknown}};
}

} // namespace

Json tree_json(const std::vector<RunlistView> &tree) {
    Json runlists = Json::array();
    for (const RunlistView &runlist : tree)
        runlists.push_back(json_of(runlist));
    return {{"runlists", runlists}};
}

} // namespace nvdebugctl
