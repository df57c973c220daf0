// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "channel.hpp"
#include "cli/page.hpp"
#include "cli/text.hpp"
#include "control/control.hpp"
#include "objects.hpp"
#include "state/state.hpp"
#include "state/task_owners.hpp"

namespace nvdebugctl {

namespace {

using nvdebug::AddressSpaceUse;
using nvdebug::Detail;
using nvdebug::Runlist;
using nvdebug::Tsg;

using Uses = std::vector<const AddressSpaceUse *>;
/// Uses of address spaces by runlist and TSG; empty: this user may not read them.
using Spaces = std::optional<std::map<std::pair<std::uint32_t, std::uint32_t>, Uses>>;
using nvdebug::ListedTsg;

Spaces by_tsg(const std::optional<std::vector<AddressSpaceUse>> &spaces) {
    if (!spaces)
        return std::nullopt;
    Spaces found(std::in_place);
    for (const AddressSpaceUse &use : *spaces)
        if (use.tsg)
            (*found)[{use.runlist, *use.tsg}].push_back(&use);
    return found;
}

auto read_spaces(Context &context) {
    return read_part(context, "which address spaces a TSG has", context.gpu().address_spaces());
}

Uses uses_of(const Spaces &spaces, std::uint32_t runlist, std::uint32_t tsg) {
    if (!spaces)
        return {};
    const auto found = spaces->find({runlist, tsg});
    return found == spaces->end() ? Uses() : found->second;
}

std::vector<const nvdebug::Channel *> channels_of(const Runlist &list, std::uint32_t tsg) {
    std::vector<const nvdebug::Channel *> channels;
    for (const nvdebug::ListedChannel &listed : nvdebug::channels_of(list))
        if (listed.tsg && listed.tsg->id == tsg)
            channels.push_back(listed.channel);
    return channels;
}

/// Returns the data of a TSG. Its first header stands for all headers; the channels are those of all
/// headers, each once.
Json summary(const Runlist &list, const ListedTsg &listed,
             const std::map<std::uint32_t, Json> &shares, const Spaces &spaces,
             const TaskOwners &owners) {
    const Tsg &tsg = *listed.headers.front();
    const auto uses = uses_of(spaces, list.id, tsg.id);
    const auto share = shares.find(tsg.id);
    Json channels = Json::array();
    for (const nvdebug::Channel *channel : channels_of(list, tsg.id))
        channels.push_back(channel->id);
    const bool truncated =
        std::ranges::any_of(listed.headers, [](const Tsg *header) { return header->truncated; });
    return {{"runlist", list.id},
            {"tsg", tsg.id},
            {"timeslice_us", microseconds(tsg.timeslice_ns)},
            {"share_percent", share == shares.end() ? Json() : share->second},
            {"shared", uses.empty() ? Json() : Json(uses.front()->shared)},
            {"spaces", uses.empty() ? Json() : Json(uses.front()->spaces)},
            {"channels", channels},
            {"processes", processes(owners.of(
                              list.id, nvdebug::Occupant{nvdebug::Occupant::Kind::tsg, tsg.id}))},
            {"headers", listed.headers.size()},
            {"length", tsg.length},
            {"truncated", truncated},
            {"scale", tsg.scale},
            {"timeout", tsg.timeout}};
}

Outcome<Document> list_tsgs(Context &context) {
    OwnersReader reader(context);
    const auto lists = read_runlists(context, Detail::brief);
    if (!lists)
        return tl::unexpected(lists.error());
    const auto read = read_spaces(context);
    const Spaces spaces = by_tsg(read);
    const nvdebug::Owners owners = reader.get(context);
    Json rows = Json::array();
    for (const Runlist &list : *lists) {
        const auto shares = shares_of(list);
        TaskOwners of_tasks;
        of_tasks.add(list, owners);
        for (const ListedTsg &tsg : nvdebug::tsgs_of(list))
            rows.push_back(summary(list, tsg, shares, spaces, of_tasks));
    }
    return Document{rows};
}

Outcome<Document> show_tsg(Context &context) {
    OwnersReader reader(context);
    const nvdebug::Target target = context.targets().front();
    const auto list = find_list_of_tsg(context, target, Detail::brief);
    if (!list)
        return tl::unexpected(list.error());
    const auto read = read_spaces(context);
    const Spaces spaces = by_tsg(read);
    const auto tsgs = nvdebug::tsgs_of(*list);
    const auto tsg = std::ranges::find(tsgs, target.id, &ListedTsg::id);
    const nvdebug::Owners owners = reader.get(context);
    TaskOwners of_tasks;
    of_tasks.add(*list, owners);
    Json data = summary(*list, *tsg, shares_of(*list), spaces, of_tasks);
    Json uses;
    if (spaces) {
        uses = Json::array();
        for (const AddressSpaceUse *use : uses_of(spaces, list->id, target.id))
            uses.push_back(address_space(*use));
    }
    Json channels = Json::array();
    for (const nvdebug::Channel *channel : channels_of(*list, target.id))
        channels.push_back(channel_state(*channel, owners));
    data["engines"] = engines_of(read_engine_names(context), list->id);
    data["address_spaces"] = std::move(uses);
    data["channels"] = std::move(channels);
    return Document{data};
}

void print_tsg(const Json &data, Page &page) {
    Json head = data;
    head.erase("channels");
    head.erase("address_spaces");
    head.erase("processes");
    print_fields(head, page);
    for (const Json &process : data["processes"])
        page.line(fmt::format("{}: {}", page.bold("process"), shown_process(process)));
    if (data["address_spaces"].is_array())
        for (const Json &space : data["address_spaces"])
            page.line(fmt::format(
                "{}: {} {}  veid {}  channels {}{}", page.bold("address space"),
                shown("", space["page_directory"]["address"]),
                shown("", space["page_directory"]["aperture"]), shown("", space["veid"]),
                shown("", space["channels"]),
                space["error"].is_null() ? "" : "  " + page.warning(shown("", space["error"]))));
    std::vector<std::string> columns = {"channel"};
    for (const Column &column : channel_columns())
        if (column.in_table && column.name != "process" && column.name != "runlist" &&
            column.name != "tsg" && column.name != "channel")
            columns.push_back(column.name);
    page.line("");
    print_table(data["channels"], columns, true, page);
}

const Argument kTsg{"TSG", Argument::Kind::tsg, "ID or RUNLIST:ID"};

Outcome<Document> preempt_tsg(Context &context) {
    const Targets tsgs = context.targets();
    return carry_out(context, nvdebug::preempt_tsgs(tsgs), on_engines(context.gpu(), tsgs));
}

Outcome<Document> switch_to(Context &context) {
    const nvdebug::Target tsg = context.targets().front();
    return carry_out(context, nvdebug::switch_to_tsg(tsg), listed_beside(context.gpu(), tsg));
}

Outcome<void> check_time(const Context &context) {
    // docs/proc.md has the limits: 1.024 us and (255 << 15) * 1.024 us.
    constexpr std::uint64_t shortest_ns = 1024, longest_ns = 8'556'380'160;
    const std::string &time = context.words("TIME").front();
    const auto ns = parse_time_ns(time, "us");
    if (!ns)
        return usage(fmt::format("{} is not a time: write 500us, 2ms, 1.5ms or plain microseconds",
                                 quote(time)));
    if (*ns < shortest_ns || *ns > longest_ns)
        return usage(fmt::format("a timeslice is 1.024us to 8.556380160s, and {} is {} than that; "
                                 "nothing was written",
                                 time, *ns < shortest_ns ? "shorter" : "longer"));
    return check_lease_time(context);
}

Outcome<Document> set_timeslice(Context &context) {
    const nvdebug::Target tsg = context.targets().front();
    const auto ns = parse_time_ns(context.words("TIME").front(), "us");
    return carry_out(context, nvdebug::set_timeslice(tsg, *ns), timeslice(context.gpu(), tsg));
}

} // namespace

std::vector<Command> tsg_commands() {
    Argument tsgs = kTsg;
    tsgs.count = Argument::Count::some;
    return {
        {.object = "tsg",
         .verb = "list",
         .help = "TSGs: timeslice, share, address spaces, channels",
         .arguments = {{"RUNLIST", Argument::Kind::runlist, "only what this runlist holds",
                        Argument::Count::optional}},
         .columns = {{"runlist", "runlist that holds it", "uint"},
                     {"tsg", "id of the TSG", "uint"},
                     {"timeslice_us", "timeslice of one header, in microseconds", "number"},
                     {"share_percent",
                      "part of the runlist's time while all TSGs have work, in percent; "
                      "null: not known (bare channels, torn list)",
                      "percent?", true, "expected_share"},
                     {"shared", "it has more than one address space (MPS); null: may not be read",
                      "bool?"},
                     {"spaces", "how many address spaces it has, of what could be read", "uint?"},
                     {"channels", "its channels, in list order", "[uint]"},
                     {"processes", "the processes that made its channels, as far as known",
                      "[process]"},
                     {"headers", "how often the list has it", "uint", false},
                     {"length", "channels that its header announces", "uint", false},
                     {"truncated", "fewer channels follow than that", "bool", false},
                     {"scale", "scale of the header: timeslice is (timeout << scale) * 1.024 us",
                      "uint", false},
                     {"timeout", "timeout of the header", "uint", false}},
         .data = "TSGs, each once, by runlist and in list order",
         .examples = {{"nvdebugctl tsg list", "each TSG's share of its runlist"},
                      {"nvdebugctl tsg list 0 --csv --columns tsg,share_percent",
                       "shares of runlist 0, for a script"}},
         .run = list_tsgs},
        {.object = "tsg",
         .verb = "show",
         .help = "one TSG with its address spaces and channels",
         .arguments = {{"TSG", Argument::Kind::tsg, "ID, if one runlist holds it, or RUNLIST:ID"}},
         .fields = {{"runlist", "runlist that holds it", "uint"},
                    {"tsg", "id of the TSG", "uint"},
                    {"timeslice_us", "timeslice of one header, in microseconds", "number"},
                    {"share_percent",
                     "part of the runlist's time while all TSGs have work, in percent; null: "
                     "not known (bare channels, torn list)",
                     "percent?"},
                    {"shared", "it has more than one address space (MPS); null: may not be read",
                     "bool?"},
                    {"spaces", "how many address spaces it has, of what could be read", "uint?"},
                    {"headers", "how often the list has it", "uint"},
                    {"length", "channels that its header announces", "uint"},
                    {"truncated", "fewer channels follow than that", "bool"},
                    {"scale", "scale of the header: timeslice is (timeout << scale) * 1.024 us",
                     "uint"},
                    {"timeout", "timeout of the header", "uint"},
                    {"processes", "the processes that made its channels, as far as known",
                     "[process]"},
                    {"channels", "its channels, in list order", "[channelState]"},
                    {"engines", "engines that the runlist serves", "[string]?"},
                    {"address_spaces", "its address spaces, by first use; null: may not be read",
                     "[addressSpace]?"}},
         .examples = {{"nvdebugctl tsg show 0:1",
                       "TSG 1 of runlist 0, with its channels: disable these to stop it"}},
         .run = show_tsg,
         .text = print_tsg},
        {.object = "tsg",
         .verb = "preempt",
         .help = "take TSGs off their engines now; each runs again when it is its turn",
         .arguments = {tsgs},
         .control = true,
         .means = Command::Means::either,
         .notes = {"Waits until the hardware has done so, one second at most."},
         .examples = {{"nvdebugctl tsg preempt 0:3", "take the engines from a task, once"}},
         .run = preempt_tsg,
         .text = show_control},
        {.object = "tsg",
         .verb = "switch",
         .help = "let only one TSG of its runlist run",
         .arguments = {kTsg},
         .control = true,
         .leasable = true,
         .notes =
             {"'nvdebugctl runlist resubmit' brings the driver's list back; so does the driver, "
              "when it submits one."},
         .examples = {{"nvdebugctl tsg switch 0:3 --for 2",
                       "the runlist to itself for two seconds"}},
         .check = check_lease_time,
         .run = switch_to,
         .text = show_control},
        {.object = "tsg",
         .verb = "timeslice",
         .help = "change how long a TSG's turn is",
         .arguments = {kTsg,
                       {"TIME", Argument::Kind::text,
                        "500us, 2ms, 1.5ms or plain microseconds; from 1.024us to 8.556380160s"}},
         .control = true,
         .leasable = true,
         .means = Command::Means::either,
         .notes = {"The hardware has steps: it is set to the longest step that is not longer than "
                   "TIME."},
         .examples = {{"nvdebugctl tsg timeslice 0:3 500us", "half a millisecond a turn"}},
         .check = check_time,
         .run = set_timeslice,
         .text = show_control},
    };
}

} // namespace nvdebugctl
