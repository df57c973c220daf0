// SPDX-License-Identifier: MIT OR GPL-2.0
#include "tree/tree_command.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>

#include "context.hpp"
#include "pictures/caption.hpp"
#include "pictures/pictures.hpp"
#include "reading.hpp"
#include "terminal.hpp"
#include "tree/json.hpp"
#include "tree/text.hpp"

namespace nvdebugctl {

namespace {

Outcome<void> check_runlist(const State &state, std::uint32_t runlist) {
    if (!state.info || std::ranges::count(state.info->runlists, runlist))
        return {};
    return fail(nvdebug::ErrorCode::not_found,
                fmt::format("{} has no runlist {}; it has {}", state.folder, runlist,
                            fmt::join(state.info->runlists, ", ")));
}

/** A tree of what can be read; fails where no list can. */
Outcome<void> report(Context &context, const State &state) {
    bool any = false;
    for (const auto &[id, list] : state.runlists)
        any = any || list;
    if (!any) {
        if (!state.info)
            return tl::unexpected(Failure(state.info.error()));
        if (state.runlists.empty())
            return fail(nvdebug::ErrorCode::unsupported, state.folder + " shows no runlists");
        return tl::unexpected(Failure(state.runlists.begin()->second.error()));
    }
    for (const nvdebug::Error &error : list_errors_of(state))
        context.missing(error);
    read_part(context, "which engines a runlist serves", state.engines);
    read_part(context, "who is on an engine now", state.now);
    read_part(context, "which address spaces a TSG has", state.spaces);
    read_part(context, "whether runlists may be scheduled from", state.scheduling);
    return {};
}

Outcome<std::shared_ptr<State>> read(Context &context) {
    std::optional<std::uint32_t> only;
    if (auto asked = context.runlists(); !asked.empty())
        only = asked.front();
    auto state = std::make_shared<State>(read_state(context.gpu(), only));
    if (only)
        if (auto known = check_runlist(*state, *only); !known)
            return tl::unexpected(known.error());
    if (auto readable = report(context, *state); !readable)
        return tl::unexpected(readable.error());
    return state;
}

Outcome<Document> run(Context &context) {
    auto state = read(context);
    if (!state)
        return tl::unexpected(state.error());
    bool one = !context.runlists().empty();
    Document document{tree_json(make_tree(**state))};
    document.print = [state = *state, one](Page &page) {
        print_tree(*state, make_tree(*state), one, this_terminal(), page);
    };
    return document;
}

Outcome<std::string> draw(Context &context) {
    auto state = read(context);
    if (!state)
        return tl::unexpected(state.error());
    return tree_svg(make_tree(**state), caption_of(context, "--svg"));
}

} // namespace

Command runlist_tree_command() {
    return {
        .object = "runlist",
        .verb = "tree",
        .help = "runlist, TSG (share, timeslice), address space, channels: who runs where",
        .arguments = {{"RUNLIST", Argument::Kind::runlist, "this one only; without it, all",
                       Argument::Count::optional}},
        .pictures = {{{"--svg", "a picture: one round of each runlist, to the scale of time"},
                      draw}},
        .notes = {"A TSG's share is that of its runlist's time while every TSG that may run has "
                  "work: its timeslices over those of all. '-' is a share that is not to be said, "
                  "since a bare channel's timeslice is not in the list.",
                  "Channels in the same state share a line, as do eight or more TSGs that differ "
                  "in nothing but their ids; JSON has each by itself. Where no state is "
                  "named, the channel is idle."},
        .examples = {{"nvdebugctl runlist tree", "what this GPU's runlists hold"},
                     {"nvdebugctl runlist tree 0", "one runlist"},
                     {"nvdebugctl runlist tree --svg > tree.svg", "a picture to print"}},
        .run = run};
}

} // namespace nvdebugctl
