// SPDX-License-Identifier: MIT OR GPL-2.0
#include "tree/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ids.hpp"
#include "tree/outline.hpp"
#include "tree/words.hpp"

namespace nvdebugctl {

namespace {

/** From so many neighbours that are alike on, TSGs share a line. */
constexpr std::size_t alike_to_fold = 8;

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

/** What TSGs must have in common to share a line: all but ids and address spaces. */
std::string likeness(const TsgView &tsg) {
    if (!tsg.id || tsg.spaces.size() != 1 || tsg.truncated ||
        (tsg.active_on && !tsg.active_on->empty()))
        return "";
    std::vector<ChannelGroup> groups = group_channels(tsg.spaces.front());
    if (groups.size() != 1)
        return "";
    return fmt::format("{} {} {} {} {}", *tsg.timeslice_ns, tsg.headers, share_of(tsg),
                       groups.front().ids.size(), groups.front().state);
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
        const auto &tsgs = runlist.tsgs;
        for (std::size_t first = 0; first < tsgs.size();) {
            std::string wanted = likeness(tsgs[first]);
            std::size_t end = first + 1;
            while (!wanted.empty() && end < tsgs.size() && likeness(tsgs[end]) == wanted)
                ++end;
            if (end - first >= alike_to_fold) {
                parent.branches.push_back(alike({&tsgs[first], end - first}));
                first = end;
            } else {
                parent.branches.push_back(branch(tsgs[first++], columns));
            }
        }
    }

    /** One line for TSGs between which there is no difference but their ids. */
    Branch alike(std::span<const TsgView> tsgs) const {
        std::vector<std::uint32_t> ids, channels;
        for (const TsgView &tsg : tsgs) {
            ids.push_back(*tsg.id);
            for (const nvdebug::Channel *channel : tsg.spaces.front().channels)
                channels.push_back(channel->id);
        }
        const TsgView &one = tsgs.front();
        Branch branch{
            {{fmt::format("TSGs {}", fold_ids(ids)), Ink::bold},
             {fmt::format("  {}, each {}  {}, {}, an address space", tsgs.size(), share_of(one),
                          time_of(*one.timeslice_ns), count_of(channel_count(one), "channel"))}},
            {}};
        ChannelGroup group = group_channels(one.spaces.front()).front();
        group.ids = std::move(channels);
        branch.branches.push_back({spans_of(group), {}});
        return branch;
    }

    /** Share and timeslice stand below each other within a runlist. */
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
                       {fmt::format("  {:>{}}  ", share_of(tsg), columns.share)},
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

} // namespace nvdebugctl
