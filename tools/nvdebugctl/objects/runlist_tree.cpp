// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>

#include "caption.hpp"
#include "cli/json.hpp"
#include "cli/output.hpp"
#include "cli/page.hpp"
#include "cli/text.hpp"
#include "runlist_tree.hpp"
#include "state/tree.hpp"
#include "tree_picture.hpp"

namespace nvdebugctl {

namespace {

enum class Ink { plain, bold, dim, warning };

struct Span {
    std::string text;
    Ink ink = Ink::plain;
};

struct Branch {
    std::vector<Span> line;
    std::vector<Branch> branches;
};

/// The strokes that lead to a branch and past it.
struct Strokes {
    const char *fork, *last, *pass, *none, *cut;
    std::size_t cut_width;
};

constexpr Strokes unicode_strokes{"├─ ", "└─ ", "│  ", "   ", "…", 1};
constexpr Strokes ascii_strokes{"|- ", "`- ", "|  ", "   ", "...", 3};

bool starts_character(char byte) {
    return (byte & 0xc0) != 0x80;
}

std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, starts_character));
}

std::string_view first_columns(std::string_view text, std::size_t columns) {
    std::size_t end = 0;
    for (; end < text.size(); ++end)
        if (starts_character(text[end]) && columns-- == 0)
            break;
    return text.substr(0, end);
}

class TreeText {
  public:
    TreeText(const Terminal &terminal, Page &page)
        : width_(terminal.width), strokes_(terminal.unicode ? unicode_strokes : ascii_strokes),
          page_(page) {}

    void draw(const Branch &branch, const std::string &lead, const std::string &below) {
        put_line(lead, branch.line);
        for (std::size_t i = 0; i < branch.branches.size(); ++i) {
            bool last = i + 1 == branch.branches.size();
            draw(branch.branches[i], below + (last ? strokes_.last : strokes_.fork),
                 below + (last ? strokes_.none : strokes_.pass));
        }
    }

  private:
    void put_line(const std::string &lead, const std::vector<Span> &line) {
        std::size_t length = width_of(lead);
        for (const Span &span : line)
            length += width_of(span.text);
        bool cut = width_ && length > *width_ && *width_ > strokes_.cut_width;
        std::size_t room = cut ? *width_ - strokes_.cut_width : length;
        std::string text = inked(lead, Ink::dim, room);
        for (const Span &span : line)
            text += inked(span.text, span.ink, room);
        page_.line(cut ? text + strokes_.cut : text);
    }

    std::string inked(std::string_view span, Ink ink, std::size_t &room) const {
        std::string_view shown = first_columns(span, room);
        room -= width_of(shown);
        if (shown.empty())
            return "";
        switch (ink) {
        case Ink::bold:
            return page_.bold(shown);
        case Ink::dim:
            return page_.dim(shown);
        case Ink::warning:
            return page_.warning(shown);
        case Ink::plain:
            break;
        }
        return std::string(shown);
    }

    const std::optional<std::size_t> width_;
    const Strokes &strokes_;
    Page &page_;
};

} // namespace

static void draw_outline(const Branch &root, const Terminal &terminal, Page &page) {
    TreeText(terminal, page).draw(root, "", "");
}

namespace {

Ink ink_of(const ChannelGroup &group) {
    return group.faulted || group.disabled ? Ink::warning : Ink::plain;
}

std::vector<Span> spans_of(const ChannelGroup &group) {
    std::vector<Span> spans{{name_of(group), Ink::plain}};
    if (!group.state.empty())
        spans.push_back({"  " + group.state, ink_of(group)});
    return spans;
}

Branch branch_of(const SpaceView &space) {
    Branch branch{{{name_of(space)}}, {}};
    std::vector<ChannelGroup> groups = group_channels(space);
    if (groups.size() == 1) {
        branch.line.push_back({": "});
        for (Span &span : spans_of(groups.front()))
            branch.line.push_back(std::move(span));
        return branch;
    }
    for (const ChannelGroup &group : groups)
        branch.branches.push_back({spans_of(group), {}});
    return branch;
}

class Text {
  public:
    Text(const State &state, bool all) : state_(state), all_(all) {}

    Branch gpu(const std::vector<RunlistView> &tree) const {
        Branch root{{{name_of_gpu(state_), Ink::bold}}, {}};
        std::vector<std::string> empty;
        for (const RunlistView &runlist : tree)
            if (runlist.empty() && !all_)
                empty.push_back(fmt::format("{} ({})", runlist.id, engines(runlist)));
            else
                root.branches.push_back(branch(runlist));
        if (!empty.empty())
            root.branches.push_back(
                {{{fmt::format("empty: runlist{} {}", empty.size() == 1 ? "" : "s",
                               fmt::join(empty, ", ")),
                   Ink::dim}},
                 {}});
        return root;
    }

  private:
    static std::string engines(const RunlistView &runlist) {
        return runlist.engines.empty() ? "-" : fmt::format("{}", fmt::join(runlist.engines, " "));
    }

    Branch branch(const RunlistView &runlist) const {
        Branch branch{
            {{fmt::format("runlist {}", runlist.id), Ink::bold}, {"  " + engines(runlist)}}, {}};
        if (std::string scheduling = scheduling_of(runlist); !scheduling.empty())
            branch.line.push_back(
                {"  " + scheduling, *runlist.scheduling ? Ink::plain : Ink::warning});
        if (runlist.list)
            branch.line.push_back({"  " + size_of(runlist)});
        if (runlist.round && runlist.turns.size() > 1)
            branch.line.push_back({"  round " + time_of(*runlist.round)});
        for (const std::string &remark : remarks_on(runlist))
            branch.branches.push_back({{{remark, Ink::warning}}, {}});
        add_tsgs(runlist, branch);
        return branch;
    }

    void add_tsgs(const RunlistView &runlist, Branch &parent) const {
        Columns columns(runlist);
        for (const Alike &alike : fold_alike(runlist))
            parent.branches.push_back(alike.count > 1 ? branch(runlist, alike)
                                                      : branch(runlist.tsgs[alike.first], columns));
    }

    /// Returns one line for several TSGs that differ only in their ids.
    Branch branch(const RunlistView &runlist, const Alike &alike) const {
        const TsgView &one = runlist.tsgs[alike.first];
        Branch branch{{{name_of(runlist, alike), Ink::bold},
                       {fmt::format("  {} TSGs, each: share {}  {}, {}, an address space",
                                    alike.count, share_of(one), time_of(*one.timeslice_ns),
                                    count_of(channel_count(one), "channel"))},
                       {one.processes.empty() ? "" : "  " + processes_of(one)}},
                      {}};
        branch.branches.push_back({spans_of(channels_of(runlist, alike)), {}});
        return branch;
    }

    /// Widths of the columns of a runlist, so that shares and timeslices are aligned.
    struct Columns {
        std::size_t name = 0, share = 0, timeslice = 0;
        explicit Columns(const RunlistView &runlist) {
            for (const TsgView &tsg : runlist.tsgs) {
                name = std::max(name, name_of(tsg).size());
                share = std::max(share, share_of(tsg).size());
                timeslice = std::max(timeslice, timeslice_of(tsg).size());
            }
        }
    };

    Branch branch(const TsgView &tsg, const Columns &columns) const {
        Branch branch{{{fmt::format("{:<{}}", name_of(tsg), columns.name), Ink::bold},
                       {fmt::format("  share {:>{}}  ", share_of(tsg), columns.share)},
                       {fmt::format("{:>{}}", timeslice_of(tsg), columns.timeslice)}},
                      {}};
        for (const auto &[words, ink] : remarks(tsg))
            branch.line.push_back({"  " + words, ink});
        for (const SpaceView &space : tsg.spaces)
            branch.branches.push_back(nvdebugctl::branch_of(space));
        return branch;
    }

    static std::vector<Span> remarks(const TsgView &tsg) {
        std::vector<Span> remarks;
        if (!tsg.processes.empty())
            remarks.push_back({processes_of(tsg)});
        if (tsg.active_on && !tsg.active_on->empty())
            remarks.push_back(
                {fmt::format("on {} now", fmt::join(*tsg.active_on, ", ")), Ink::bold});
        if (tsg.shared == std::optional(true))
            remarks.push_back(
                {fmt::format("shared by {} (MPS)", count_of(tsg.spaces.size(), "address space")),
                 Ink::bold});
        if (tsg.may_run == std::optional(false))
            remarks.push_back({"disabled", Ink::warning});
        if (tsg.truncated)
            remarks.push_back(
                {fmt::format("truncated: its header announces {}", count_of(tsg.length, "channel")),
                 Ink::warning});
        return remarks;
    }

    const State &state_;
    bool all_;
};

} // namespace

void print_tree(const State &state, const std::vector<RunlistView> &tree, bool all,
                const Terminal &terminal, Page &page) {
    draw_outline(Text(state, all).gpu(tree), terminal, page);
}

namespace {

Json microseconds_or_null(const std::optional<std::uint64_t> &ns) {
    return ns ? microseconds(*ns) : Json();
}

Json json_of(const SpaceView &space, const nvdebug::Owners &owners) {
    Json channels = Json::array();
    for (const nvdebug::Channel *channel : space.channels)
        channels.push_back(channel_state(*channel, owners));
    return {{"page_directory", space.page_directory ? place(*space.page_directory) : Json()},
            {"veids", space.veids.empty() ? Json() : Json(space.veids)},
            {"error", or_null(space.error)},
            {"channels", channels}};
}

Json json_of(const TsgView &tsg, const nvdebug::Owners &owners) {
    Json spaces = Json::array();
    for (const SpaceView &space : tsg.spaces)
        spaces.push_back(json_of(space, owners));
    return {
        {"tsg", or_null(tsg.id)},          {"timeslice_us", microseconds_or_null(tsg.timeslice_ns)},
        {"headers", tsg.headers},          {"share_percent", percent(tsg.share)},
        {"may_run", or_null(tsg.may_run)}, {"active_on", or_null(tsg.active_on)},
        {"shared", or_null(tsg.shared)},   {"length", tsg.length},
        {"truncated", tsg.truncated},      {"processes", processes(tsg.processes)},
        {"address_spaces", spaces}};
}

Json json_of(const RunlistView &runlist, const nvdebug::Owners &owners) {
    Json tsgs = Json::array(), unknown = Json::array();
    for (const TsgView &tsg : runlist.tsgs)
        tsgs.push_back(json_of(tsg, owners));
    for (const nvdebug::UnknownEntry *entry : runlist.unknown) {
        Json words = Json::array();
        for (std::uint32_t word : entry->words)
            words.push_back(hex(word, digits_of_word));
        unknown.push_back({{"index", entry->index}, {"words", words}});
    }
    const nvdebug::Runlist *list = runlist.list;
    const bool readable = list && list->tsgs;
    return {{"runlist", runlist.id},
            {"engines", runlist.engines},
            {"scheduling", or_null(runlist.scheduling)},
            {"entries", list ? Json(list->entries) : Json()},
            {"tsg_count", readable ? Json(tsg_count(runlist)) : Json()},
            {"channel_count", readable ? Json(channel_count(runlist)) : Json()},
            {"pending", list ? Json(list->pending) : Json()},
            {"torn", list ? Json(list->torn) : Json()},
            {"round_us", microseconds_or_null(runlist.round)},
            {"error", or_null(runlist.error)},
            {"tsgs", tsgs},
            {"unknown_entries", unknown}};
}

} // namespace

Json tree_json(const State &state, const std::vector<RunlistView> &tree) {
    Json runlists = Json::array();
    for (const RunlistView &runlist : tree)
        runlists.push_back(json_of(runlist, state.owners));
    return {{"runlists", runlists}};
}

namespace {

Outcome<void> check_runlist(const State &state, std::uint32_t runlist) {
    if (!state.info || state.info->runlists.empty() ||
        std::ranges::count(state.info->runlists, runlist))
        return {};
    return no_runlist(state.folder, state.info->runlists, runlist);
}

/// Reports what is missing from the tree. Fails if no list can be read.
Outcome<void> report(Context &context, const State &state) {
    bool any = false;
    for (const auto &[id, list] : state.runlists)
        any = any || list;
    if (!any) {
        if (!state.info)
            return tl::unexpected(Failure(state.info.error()));
        if (state.runlists.empty())
            return no_runlists(context.gpu());
        return tl::unexpected(Failure(state.runlists.begin()->second.error()));
    }
    for (const nvdebug::Error &error : list_errors_of(state))
        context.missing(error);
    read_part(context, "which engines a runlist serves", state.engines);
    read_part(context, "who is on an engine", state.now);
    read_part(context, "which address spaces a TSG has", state.spaces);
    read_scheduling(context, state.scheduling, ids_of(state));
    return {};
}

Outcome<std::shared_ptr<State>> read(Context &context) {
    OwnersReader reader(context);
    std::optional<std::uint32_t> only;
    if (auto asked = context.runlists(); !asked.empty())
        only = asked.front();
    auto state = std::make_shared<State>(read_state(context.gpu(), only));
    if (only)
        if (auto known = check_runlist(*state, *only); !known)
            return tl::unexpected(known.error());
    if (auto readable = report(context, *state); !readable)
        return tl::unexpected(readable.error());
    state->owners = reader.get(context);
    return state;
}

Outcome<Document> run(Context &context) {
    auto state = read(context);
    if (!state)
        return tl::unexpected(state.error());
    bool one = !context.runlists().empty();
    Document document{tree_json(**state, make_tree(**state))};
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
        .help = "runlist, TSG (share, timeslice), address space, channels as a tree",
        .arguments = {{"RUNLIST", Argument::Kind::runlist, "this one only; without it, all",
                       Argument::Count::optional}},
        .pictures = {{{"--svg", "a picture: one round of each runlist, to the scale of time"},
                      draw}},
        .fields =
            {{"runlists",
              "the runlist asked for, or all by rising id",
              "[object]",
              {{"runlist", "id of the runlist", "uint"},
               {"engines", "engines that it serves", "[string]"},
               {"scheduling", "scheduling is on; null: cannot be read", "bool?"},
               {"entries",
                "length of the list that the hardware was given, in entries; null: it could not be "
                "read",
                "uint?"},
               {"tsg_count", "TSGs in the list, each counted once; null: it could not be read",
                "uint?"},
               {"channel_count",
                "channels in the list, each counted once; null: it could not be read", "uint?"},
               {"pending", "submitted, and not yet taken over by Host; null: it could not be read",
                "bool?"},
               {"torn",
                "the list moved while it was copied: old and new are mixed; null: it could not be "
                "read",
                "bool?"},
               {"round_us",
                "what the timeslices of all TSGs that may run add up to, in microseconds; null: "
                "not known (bare channels, torn list)",
                "number?"},
               {"error", "why the list could not be read; null: it could", "string?"},
               {"tsgs",
                "TSGs and bare channels, in the order in which the list first has them",
                "[object]",
                {{"tsg", "id of the TSG; null: a channel outside of a TSG", "uint?"},
                 {"timeslice_us",
                  "timeslice of one header, in microseconds; null: not in the list (bare channel)",
                  "number?"},
                 {"headers", "how often the list has it", "positive"},
                 {"share_percent",
                  "part of the runlist's time while all TSGs that may run have work, in percent; "
                  "null: not known (bare channels, torn list)",
                  "percent?"},
                 {"may_run", "one of its channels is enabled; null: not known", "bool?"},
                 {"active_on", "engines that it is on now; null: may not be read", "[string]?"},
                 {"shared", "it has more than one address space (MPS); null: not known", "bool?"},
                 {"length", "channels that its header announces", "uint"},
                 {"truncated", "fewer channels follow than that", "bool"},
                 {"processes", "the processes that made its channels, as far as known",
                  "[process]"},
                 {"address_spaces",
                  "its address spaces, in the order in which channels first use them",
                  "[object]",
                  {{"page_directory", "root of its page tables; null: not known", "place?"},
                   {"veids",
                    "subcontexts through which the TSG uses it; null: none before Volta, or not "
                    "known",
                    "[uint]?"},
                   {"error", "why it is not known; null: it is, or the reason is not", "string?"},
                   {"channels", "its channels in list order", "[channelState]"}}}}},
               {"unknown_entries",
                "entries that are neither TSG nor channel",
                "[object]",
                {{"index", "number of the entry among all, from 0", "uint"},
                 {"words", "the entry", "[hex]"}}}}}},
        .notes =
            {"A TSG's share is its part of the runlist's time while all TSGs that may run have "
             "work: its timeslices divided by those of all. '-': not known, since the list "
             "also has channels outside of any TSG, whose timeslices it does not have.",
             "Channels in the same state share a line, as do eight or more TSGs that differ "
             "in nothing but their ids; JSON has each by itself. Where no state is "
             "named, the channel is idle.",
             "Engines are read before the lists. Where a list's channels contradict the task on an "
             "engine, the task is left out; an idle engine has no task."},
        .examples = {{"nvdebugctl runlist tree", "what this GPU's runlists hold"},
                     {"nvdebugctl runlist tree 0", "one runlist"},
                     {"nvdebugctl runlist tree --svg > tree.svg", "a picture to print"}},
        .run = run};
}

} // namespace nvdebugctl
