// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "channel.hpp"
#include "cli/page.hpp"
#include "control/control.hpp"
#include "nvdebug/entries.hpp"
#include "objects.hpp"
#include "runlist_tree.hpp"
#include "state/state.hpp"

namespace nvdebugctl {

namespace {

using nvdebug::Detail;
using nvdebug::Runlist;

using Scheduling = std::optional<std::map<std::uint32_t, bool>>;

/// Returns the data of a list that `runlist list` and `runlist show` have in common.
Json summary(const Runlist &list, const std::optional<EngineNames> &engines,
             const Scheduling &scheduling, const nvdebug::Owners &owners) {
    std::vector<const nvdebug::Channel *> channels;
    for (const nvdebug::ListedChannel &listed : nvdebug::channels_of(list))
        channels.push_back(listed.channel);
    Json on;
    if (scheduling)
        if (const auto found = scheduling->find(list.id); found != scheduling->end())
            on = found->second;
    return {{"runlist", list.id},
            {"engines", engines_of(engines, list.id)},
            {"scheduling", on},
            {"tsgs", list.tsgs ? Json(nvdebug::tsgs_of(list).size()) : Json()},
            {"channels", list.channels ? Json(channels.size()) : Json()},
            {"processes", processes(owners_of(channels, owners))},
            {"entries", list.entries},
            {"pending", list.pending},
            {"torn", list.torn},
            {"address", hex(list.place.address)},
            {"aperture", aperture(list.place.aperture)}};
}

Outcome<Document> list_runlists(Context &context) {
    OwnersReader reader(context);
    const auto lists = read_runlists(context, Detail::brief);
    if (!lists)
        return tl::unexpected(lists.error());
    const auto engines = read_engine_names(context);
    std::vector<std::uint32_t> ids;
    for (const Runlist &list : *lists)
        ids.push_back(list.id);
    const auto scheduling = read_scheduling(context, context.gpu().scheduling(), ids);
    const nvdebug::Owners owners = reader.get(context);
    Json rows = Json::array();
    for (const Runlist &list : *lists)
        rows.push_back(summary(list, engines, scheduling, owners));
    return Document{rows};
}

Json channel_with_instance(const nvdebug::Channel &channel, const nvdebug::Owners &owners) {
    Json data = channel_state(channel, owners);
    data["instance"] = channel.instance ? instance_block(*channel.instance) : Json();
    return data;
}

struct ToItem {
    const nvdebug::Owners &owners;
    std::map<std::uint32_t, Json> shares;
    std::set<const nvdebug::Tsg *> first; ///< the first header of each TSG

    Json operator()(const nvdebug::Tsg &tsg) const {
        Json channels = Json::array();
        for (const nvdebug::Channel &channel : tsg.channels)
            channels.push_back(channel_with_instance(channel, owners));
        const auto share = shares.find(tsg.id);
        return {{"kind", "tsg"},
                {"tsg", tsg.id},
                {"again", !first.contains(&tsg)},
                {"timeslice_us", microseconds(tsg.timeslice_ns)},
                {"share_percent", share == shares.end() ? Json() : share->second},
                {"scale", tsg.scale},
                {"timeout", tsg.timeout},
                {"length", tsg.length},
                {"truncated", tsg.truncated},
                {"channels", std::move(channels)}};
    }
    Json operator()(const nvdebug::Channel &channel) const {
        Json item = {{"kind", "channel"}};
        item.update(channel_with_instance(channel, owners));
        return item;
    }
    Json operator()(const nvdebug::UnknownEntry &entry) const {
        Json words = Json::array();
        for (const std::uint32_t word : entry.words)
            words.push_back(hex(word, digits_of_word));
        return {{"kind", "unknown"}, {"entry", entry.index}, {"words", words}};
    }
};

Json raw_entry(const nvdebug::RawEntry &entry) {
    Json words = Json::array(), fields = Json::array();
    for (const std::uint32_t word : entry.words)
        words.push_back(hex(word, digits_of_word));
    for (const nvdebug::EntryField &field : entry.fields)
        fields.push_back({{"field", field.name},
                          {"word", field.word},
                          {"high_bit", field.high},
                          {"low_bit", field.low},
                          {"value", field.value}});
    return {{"entry", entry.index},
            {"address", hex(entry.address)},
            {"words", std::move(words)},
            {"fields", std::move(fields)}};
}

Outcome<Document> show_runlist(Context &context) {
    OwnersReader reader(context);
    const auto list = read_runlist(context, context.runlists().front(),
                                   context.flag("--brief") ? Detail::brief : Detail::full);
    if (!list)
        return tl::unexpected(list.error());
    const auto engines = read_engine_names(context);
    const auto scheduling = read_scheduling(context, context.gpu().scheduling(), {list->id});
    const nvdebug::Owners owners = reader.get(context);
    Json data = summary(*list, engines, scheduling, owners);
    Json items = Json::array();
    ToItem to_item{owners, shares_of(*list), {}};
    for (const nvdebug::ListedTsg &tsg : nvdebug::tsgs_of(*list))
        to_item.first.insert(tsg.headers.front());
    for (const nvdebug::RunlistItem &item : list->items)
        items.push_back(std::visit(to_item, item));
    data["items"] = std::move(items);
    data["raw"] = nullptr;
    if (context.flag("--raw")) {
        const auto entries = nvdebug::runlist_entries(context.gpu(), list->id);
        if (!entries)
            return tl::unexpected(Failure(entries.error()));
        data["raw"] = Json::array();
        for (const nvdebug::RawEntry &entry : *entries)
            data["raw"].push_back(raw_entry(entry));
    }
    return Document{data, channel_rows(*list, owners)};
}

bool is_true(const Json &value) {
    return value.is_boolean() && value.get<bool>();
}

std::string address_space_of(const Json &instance) {
    if (!instance["error"].is_null())
        return fmt::format("  instance block: {}", shown("error", instance["error"]));
    if (!instance["same_as_channel"].is_null())
        return fmt::format("  as channel {}", shown("", instance["same_as_channel"]));
    const Json &directory = instance["page_directory"];
    std::string text = fmt::format("  page directory {} {}", shown("", directory["address"]),
                                   shown("", directory["aperture"]));
    if (!instance["veid"].is_null())
        text += "  veid " + shown("", instance["veid"]);
    if (!instance["context_as_channel"].is_null())
        text += "  context as channel " + shown("", instance["context_as_channel"]);
    else if (!instance["context_note"].is_null() && instance["context_note"] != "none")
        text += "  context " + shown("", instance["context_note"]);
    else if (const Json &image = instance["context"]; !image.is_null())
        text += fmt::format("  context {}{}{}", shown("", image["id"]),
                            image["type"].is_null() ? "" : "  type " + shown("", image["type"]),
                            image["compute_preemption"].is_null()
                                ? ""
                                : "  compute preemption " + shown("", image["compute_preemption"]));
    return text;
}

void print_channel(const Json &channel, Page &page, std::size_t width, const char *indent) {
    std::string text = fmt::format("{}channel {:<{}}", indent, channel["channel"].dump(), width);
    if (!channel["error"].is_null()) {
        page.line(text + "  " + page.warning(channel["error"].get<std::string>()));
        return;
    }
    text += is_true(channel["enabled"]) ? "  enabled " : "  " + page.warning("disabled");
    text += fmt::format("  {:<16}", shown("status", channel["status"]));
    for (const auto &[key, word] : {std::pair{"pbdma_faulted", "PBDMA faulted"},
                                    std::pair{"engine_faulted", "engine faulted"}})
        if (is_true(channel[key]))
            text += "  " + page.warning(word);
    if (!channel["process"].is_null())
        text += "  " + shown_process(channel["process"]);
    if (!channel["instance"].is_null())
        text += address_space_of(channel["instance"]);
    page.line(text.substr(0, text.find_last_not_of(' ') + 1));
}

void print_item(const Json &item, Page &page, std::size_t width) {
    const std::string kind = item["kind"].get<std::string>();
    if (kind == "channel") {
        print_channel(item, page, width, "");
    } else if (kind == "unknown") {
        page.line(page.warning(fmt::format("entry {} is neither TSG nor channel: {}",
                                           item["entry"].dump(), shown("", item["words"]))));
    } else {
        const bool again = item["again"].get<bool>();
        page.line(fmt::format(
            "{}  timeslice {}{}{}", page.bold("TSG " + item["tsg"].dump()),
            shown("timeslice_us", item["timeslice_us"]),
            again ? "  again: another turn in the same round, with the same channels"
                  : "  share " + shown("share_percent", item["share_percent"]),
            item["truncated"].get<bool>()
                ? page.warning(fmt::format("  truncated: {} of {} channels",
                                           item["channels"].size(), item["length"].dump()))
                : ""));
        if (again)
            return;
        for (const Json &channel : item["channels"])
            print_channel(channel, page, width, "  ");
    }
}

/// Returns the digits of the longest channel id, so that columns line up.
std::size_t width_of_ids(const Json &data) {
    std::size_t width = 1;
    const auto widen = [&](const Json &channel) {
        width = std::max(width, channel["channel"].dump().size());
    };
    for (const Json &item : data["items"]) {
        if (item["kind"] == "channel")
            widen(item);
        if (item["kind"] == "tsg")
            std::ranges::for_each(item["channels"], widen);
    }
    return width;
}

/// Prints an entry: its words, and each field with its place, as `timeout 128 (word 0, 31:24)`.
void print_raw(const Json &entry, Page &page) {
    std::string words, fields, kind = "neither TSG nor channel";
    for (const Json &word : entry["words"])
        words += (words.empty() ? "" : " ") + word.get<std::string>().substr(2);
    for (const Json &field : entry["fields"]) {
        const std::string name = field["field"].get<std::string>();
        const auto value = field["value"].get<std::uint64_t>();
        const auto high = field["high_bit"].get<std::uint32_t>(),
                   low = field["low_bit"].get<std::uint32_t>();
        if (name == "type")
            kind = value ? "TSG" : "channel";
        fields +=
            fmt::format("{} {} (word {}, {}), ", name,
                        name.starts_with("instance pointer") ? fmt::format("{:#x}", value)
                                                             : fmt::format("{}", value),
                        field["word"].get<std::uint32_t>(),
                        high == low ? fmt::format("{}", high) : fmt::format("{}:{}", high, low));
    }
    page.line(fmt::format("entry {} at {}: {}  {}", entry["entry"].dump(),
                          entry["address"].get<std::string>(), page.bold(words), kind));
    if (!fields.empty())
        page.line("    " + fields.substr(0, fields.size() - 2));
}

void print_runlist(const Json &data, Page &page) {
    std::string head = fmt::format(
        "{}  {}  {} TSGs, {} channels", page.bold("runlist " + data["runlist"].dump()),
        shown("engines", data["engines"]), shown("", data["tsgs"]), shown("", data["channels"]));
    if (data["scheduling"].is_boolean())
        head +=
            is_true(data["scheduling"]) ? "  scheduling on" : "  " + page.warning("scheduling off");
    if (is_true(data["pending"]))
        head += "  submitted, not yet taken over";
    if (is_true(data["torn"]))
        head += "  " + page.warning("torn");
    page.line(head);
    if (!data["raw"].is_null()) {
        for (const Json &entry : data["raw"])
            print_raw(entry, page);
        return;
    }
    const std::size_t width = width_of_ids(data);
    for (const Json &item : data["items"])
        print_item(item, page, width);
}

const Argument kRunlists{"RUNLIST", Argument::Kind::runlist, "a runlist's id",
                         Argument::Count::some};

Outcome<Document> preempt_runlist(Context &context) {
    const Ids runlists = context.runlists();
    return carry_out(context, nvdebug::preempt_runlists(runlists),
                     running(context.gpu(), runlists));
}

Outcome<Document> resubmit(Context &context) {
    const Ids runlists = context.runlists();
    return carry_out(context, nvdebug::resubmit_runlists(runlists),
                     listed(context.gpu(), runlists));
}

Outcome<Document> schedule(Context &context, bool on) {
    const Ids runlists = context.runlists();
    return carry_out(context, nvdebug::schedule_runlists(runlists, on),
                     scheduling(context.gpu(), runlists));
}

Outcome<Document> enable_runlist(Context &context) {
    return schedule(context, true);
}

Outcome<Document> disable_runlist(Context &context) {
    return schedule(context, false);
}

/// Returns the columns of a list. Their names are the keys of summary().
const std::vector<Column> &summary_columns() {
    static const std::vector<Column> columns = {
        {"runlist", "id of the runlist", "uint"},
        {"engines", "engines that it serves", "[string]?"},
        {"scheduling", "scheduling is on; null: cannot be read", "bool?"},
        {"tsgs", "TSGs in the list, each counted once; null: it cannot be read", "uint?"},
        {"channels", "channels in the list, each counted once; null: it cannot be read", "uint?"},
        {"processes", "the processes that made its channels, as far as known", "[process]"},
        {"entries",
         "length of the list that the hardware was given, in entries: a TSG that is listed "
         "twice is there twice, with its channels",
         "uint"},
        {"pending", "submitted, and not yet taken over by Host", "bool"},
        {"torn", "the list moved while it was copied: old and new are mixed", "bool", false},
        {"address", "where the list is in its aperture; null: none, or hidden", "address", false},
        {"aperture", "'vid', 'coh', 'ncoh' or 'invalid'", "aperture", false}};
    return columns;
}

/// Returns the fields of summary() and of the list's contents.
std::vector<Field> show_fields() {
    std::vector<Field> fields = fields_of(summary_columns());
    fields.push_back(
        {"items",
         "TSGs and bare channels in list order",
         "[either]",
         {{"",
           "",
           "object",
           {{"kind", "a TSG", "=tsg"},
            {"tsg", "id of the TSG", "uint"},
            {"again", "another turn of a TSG that the list had before", "bool"},
            {"timeslice_us", "timeslice of one header, in microseconds", "number"},
            {"share_percent",
             "part of the runlist's time while all TSGs have work, in percent; null: not "
             "known (bare channels, torn list)",
             "percent?"},
            {"scale", "scale of the header: timeslice is (timeout << scale) * 1.024 us", "uint"},
            {"timeout", "timeout of the header", "uint"},
            {"length", "channels that its header announces", "uint"},
            {"truncated", "fewer channels follow than that", "bool"},
            {"channels",
             "the channel entries that follow its header",
             "[channelState]",
             {{"instance",
               "instance block, subcontexts and context; null: not asked for (--brief), or "
               "none",
               "instance?"}}}}},
          {"",
           "",
           "channelState",
           {{"kind", "a channel outside of a TSG", "=channel"},
            {"instance",
             "instance block, subcontexts and context; null: not asked for (--brief), or "
             "none",
             "instance?"}}},
          {"",
           "",
           "object",
           {{"kind", "an entry that is neither TSG nor channel", "=unknown"},
            {"entry", "number of the entry among all, from 0", "uint"},
            {"words", "the entry", "[hex]"}}}}});
    fields.push_back(
        {"raw",
         "the entries as they are in memory; null: not asked for (--raw)",
         "[object]?",
         {{"entry", "number of the entry among all, from 0", "uint"},
          {"address", "where it is in the list's aperture", "hex"},
          {"words", "its words", "[hex]"},
          {"fields",
           "its fields, as Host's manuals have them; empty: it is neither TSG nor "
           "channel",
           "[object]",
           {{"field", "name of the field", "string"},
            {"word", "number of its word, from 0", "uint"},
            {"high_bit", "its highest bit", "uint"},
            {"low_bit", "its lowest bit", "uint"},
            {"value",
             "its value; the parts of the instance pointer are in place, its high part "
             "counts units of 2^32",
             "uint"}}}}});
    return fields;
}

} // namespace

std::vector<Command> runlist_commands() {
    const Argument runlist = {"RUNLIST", Argument::Kind::runlist, "id, as 'runlist list' shows it"};
    return {
        {.object = "runlist",
         .verb = "list",
         .help = "runlists: engines, TSGs, channels, scheduling on or off",
         .columns = summary_columns(),
         .data = "runlists by rising id",
         .examples = {{"nvdebugctl runlist list", "one line for each runlist"}},
         .run = list_runlists},
        {.object = "runlist",
         .verb = "show",
         .help = "one runlist in the order in which the GPU goes round it",
         .arguments = {runlist},
         .options = {{"--brief", "without instance blocks and contexts: reads far less"},
                     {"--raw",
                      "each entry's words in memory, and the place of each field in them; from "
                      "NVIDIA's driver, or a capture that was made through it"}},
         .columns = channel_columns(),
         .fields = show_fields(),
         .notes =
             {"CSV has a row for each channel. The share of a TSG is that of the time in which "
              "all have work."},
         .examples = {{"nvdebugctl runlist show 0", "the tasks of runlist 0"},
                      {"nvdebugctl -j runlist show 0", "the same for a program"},
                      {"sudo nvdebugctl --from driver runlist show 0 --raw",
                       "its entries as the GPU reads them"},
                      {"nvdebugctl runlist show 0 --brief --csv --columns tsg,channel,enabled",
                       "its channels, for a script"}},
         .run = show_runlist,
         .text = print_runlist},
        runlist_tree_command(),
        {.object = "runlist",
         .verb = "preempt",
         .help = "take everything off a runlist's engines now; the GPU then chooses anew",
         .arguments = {kRunlists},
         .control = true,
         .notes = {"Up to Pascal the list is submitted again, which does the same."},
         .examples = {{"nvdebugctl runlist preempt 0", "let the next task have runlist 0"}},
         .run = preempt_runlist,
         .text = show_control},
        {.object = "runlist",
         .verb = "resubmit",
         .help = "make the GPU read the driver's runlist again; undoes 'tsg switch'",
         .arguments = {kRunlists},
         .control = true,
         .examples = {{"nvdebugctl runlist resubmit 0", "the driver's own list is back"}},
         .run = resubmit,
         .text = show_control},
        {.object = "runlist",
         .verb = "enable",
         .help = "turn scheduling of runlists on again",
         .arguments = {kRunlists},
         .control = true,
         .leasable = true,
         .examples = {{"nvdebugctl runlist enable 0", "after 'runlist disable 0'"}},
         .check = check_lease_time,
         .run = enable_runlist,
         .text = show_control},
        {.object = "runlist",
         .verb = "disable",
         .help = "turn scheduling of runlists off; what is on an engine stays there",
         .arguments = {kRunlists},
         .control = true,
         .leasable = true,
         .examples = {{"nvdebugctl runlist disable 0 --for 0.5", "half a second of quiet"}},
         .check = check_lease_time,
         .run = disable_runlist,
         .text = show_control},
    };
}

} // namespace nvdebugctl
