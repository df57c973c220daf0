// SPDX-License-Identifier: MIT OR GPL-2.0
#include "tree.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <tuple>

#include "cli/json.hpp"
#include "cli/page.hpp"
#include "cli/text.hpp"
#include "lib/base/quantity.hpp"
#include "task_owners.hpp"

namespace nvdebugctl {

namespace {

using nvdebug::Occupant;

/// Returns the kind and id of a TSG or bare channel, as the files `engines` and `contexts` show
/// them.
Occupant occupant_of(const TsgView &tsg) {
    if (tsg.id)
        return {Occupant::Kind::tsg, *tsg.id};
    return {Occupant::Kind::channel, tsg.spaces.front().channels.front()->id};
}

/// Uses of address spaces, by runlist and by TSG or bare channel.
using Uses = std::map<std::tuple<std::uint32_t, Occupant::Kind, std::uint32_t>,
                      std::vector<const nvdebug::AddressSpaceUse *>>;

Uses uses_by_task(const State &state) {
    Uses uses;
    if (state.spaces)
        for (const nvdebug::AddressSpaceUse &use : *state.spaces) {
            if (use.tsg)
                uses[{use.runlist, Occupant::Kind::tsg, *use.tsg}].push_back(&use);
            else
                for (std::uint32_t channel : std::set(use.channels.begin(), use.channels.end()))
                    uses[{use.runlist, Occupant::Kind::channel, channel}].push_back(&use);
        }
    return uses;
}

/// The address spaces of one task. A hidden address counts as different from all others.
class Spaces {
  public:
    /// Returns the index of the address space of @p use, and adds the address space if it is new.
    std::size_t index_of(const nvdebug::AddressSpaceUse &use) {
        const nvdebug::Place &place = use.page_directory;
        if (!use.error && place.address) {
            auto [found, fresh] = known_.try_emplace({place.address, place.aperture}, all.size());
            if (!fresh)
                return found->second;
        }
        SpaceView &space = all.emplace_back();
        space.error = use.error;
        if (!use.error)
            space.page_directory = place;
        return all.size() - 1;
    }

    std::vector<SpaceView> all;

  private:
    std::map<std::pair<std::optional<std::uint64_t>, std::optional<nvdebug::Aperture>>, std::size_t>
        known_;
};

/// Moves a TSG's channels from their one nameless space to the address spaces that they use.
void split_by_space(const Uses &uses, std::uint32_t runlist, TsgView &tsg) {
    const Occupant task = occupant_of(tsg);
    Spaces known;
    std::vector<SpaceView> &spaces = known.all;
    std::map<std::uint32_t, std::size_t> space_of;
    if (auto found = uses.find({runlist, task.kind, task.id}); found != uses.end())
        for (const nvdebug::AddressSpaceUse *use : found->second) {
            const std::size_t index = known.index_of(*use);
            if (use->veid)
                spaces[index].veids.push_back(*use->veid);
            for (std::uint32_t channel : use->channels)
                space_of[channel] = index;
            tsg.shared = tsg.shared.value_or(false) || use->shared;
        }
    SpaceView rest{};
    for (const nvdebug::Channel *channel : tsg.spaces.front().channels) {
        auto found = space_of.find(channel->id);
        (found == space_of.end() ? rest : spaces[found->second]).channels.push_back(channel);
    }
    // Contexts are read after the list, so a channel may be gone by then, and its space remains
    // empty.
    std::erase_if(spaces, [](const SpaceView &space) { return space.channels.empty(); });
    if (!rest.channels.empty())
        spaces.push_back(std::move(rest));
    tsg.spaces = std::move(spaces);
}

std::optional<bool> any_enabled(const TsgView &tsg) {
    bool unknown = false;
    for (const SpaceView &space : tsg.spaces)
        for (const nvdebug::Channel *channel : space.channels) {
            if (channel->enabled.value_or(false))
                return true;
            unknown = unknown || (!channel->enabled && !channel->error);
        }
    return unknown ? std::nullopt : std::optional(false);
}

/// The place of a TSG in RunlistView::tsgs, and the channels that it has there.
struct Known {
    std::size_t index;
    std::set<std::uint32_t> channels;
};

/// Adds a TSG. A further header of a known TSG is merged with the first one.
void add_tsg(RunlistView &view, std::map<std::uint32_t, Known> &known, const nvdebug::Tsg &tsg) {
    auto [found, fresh] = known.try_emplace(tsg.id, Known{view.tsgs.size(), {}});
    auto &[index, channels] = found->second;
    if (fresh) {
        TsgView &added = view.tsgs.emplace_back();
        added.id = tsg.id;
        added.timeslice_ns = tsg.timeslice_ns;
        added.length = tsg.length;
        added.spaces.resize(1);
    }
    TsgView &merged = view.tsgs[index];
    ++merged.headers;
    merged.truncated = merged.truncated || tsg.truncated;
    for (const nvdebug::Channel &channel : tsg.channels)
        // A TSG that is listed twice has the same channels below each header.
        if (channels.insert(channel.id).second)
            merged.spaces.front().channels.push_back(&channel);
    view.turns.push_back({index, tsg.timeslice_ns});
}

void add_bare(RunlistView &view, std::map<std::uint32_t, std::size_t> &known,
              const nvdebug::Channel &channel) {
    const auto [found, fresh] = known.try_emplace(channel.id, view.tsgs.size());
    if (fresh) {
        TsgView &bare = view.tsgs.emplace_back();
        bare.length = 1;
        bare.spaces.resize(1);
        bare.spaces.front().channels.push_back(&channel);
    }
    ++view.tsgs[found->second].headers;
}

void add_items(RunlistView &view) {
    std::map<std::uint32_t, Known> known;
    std::map<std::uint32_t, std::size_t> bare;
    for (const nvdebug::RunlistItem &item : view.list->items) {
        if (auto *tsg = std::get_if<nvdebug::Tsg>(&item)) {
            add_tsg(view, known, *tsg);
        } else if (auto *channel = std::get_if<nvdebug::Channel>(&item)) {
            add_bare(view, bare, *channel);
        } else {
            view.unknown.push_back(&std::get<nvdebug::UnknownEntry>(item));
        }
    }
}

void add_shares(RunlistView &view) {
    std::map<std::uint32_t, std::optional<double>> shares;
    for (const nvdebug::TsgShare &share : nvdebug::expected_shares(*view.list))
        shares[share.tsg] = share.share;
    bool known = !shares.empty();
    for (TsgView &tsg : view.tsgs)
        if (tsg.id) {
            tsg.share = shares[*tsg.id];
            known = known && tsg.share;
        }
    std::erase_if(view.turns, [&](const TurnView &turn) {
        return view.tsgs[turn.tsg].may_run == std::optional(false);
    });
    if (!known)
        return;
    view.round = 0;
    for (const TurnView &turn : view.turns)
        *view.round += turn.timeslice_ns;
}

/// Returns whether the state of one of its channels means that it is on an engine.
bool is_on_engine(const TsgView &tsg) {
    return std::ranges::any_of(tsg.spaces, [](const SpaceView &space) {
        return std::ranges::any_of(space.channels, [](const nvdebug::Channel *channel) {
            return channel->status_name && channel->status_name->find("ENG") != std::string::npos;
        });
    });
}

void add_engines_now(const State &state, RunlistView &view) {
    if (!state.now)
        return;
    // Channels are read after the engines, so the next task may be on the engine by then.
    const bool channels_say = std::ranges::any_of(view.tsgs, is_on_engine);
    for (TsgView &tsg : view.tsgs) {
        tsg.active_on.emplace();
        if (channels_say && !is_on_engine(tsg))
            continue;
        for (const nvdebug::EngineState &engine : *state.now)
            // An idle copy engine still shows its last occupant.
            if (engine.runlist == view.id && engine.current == occupant_of(tsg) &&
                engine.busy.value_or(true))
                tsg.active_on->push_back(engine.engine);
    }
}

RunlistView make_runlist(const State &state, const Uses &uses, std::uint32_t id,
                         const nvdebug::Result<nvdebug::Runlist> &list) {
    RunlistView view{};
    view.id = id;
    if (state.engines)
        for (const nvdebug::Engine &engine : *state.engines)
            if (engine.runlist == id)
                view.engines.push_back(engine.name);
    if (state.scheduling)
        if (auto found = state.scheduling->find(id); found != state.scheduling->end())
            view.scheduling = found->second;
    if (!list) {
        view.error = list.error().sentence;
        return view;
    }
    view.list = &*list;
    add_items(view);
    add_engines_now(state, view);
    TaskOwners owners;
    owners.add(*list, state.owners);
    for (TsgView &tsg : view.tsgs) {
        tsg.processes = owners.of(id, occupant_of(tsg));
        split_by_space(uses, id, tsg);
        tsg.may_run = any_enabled(tsg);
    }
    add_shares(view);
    return view;
}

} // namespace

std::vector<RunlistView> make_tree(const State &state) {
    const Uses uses = uses_by_task(state);
    std::vector<RunlistView> tree;
    for (const auto &[id, list] : state.runlists)
        tree.push_back(make_runlist(state, uses, id, list));
    return tree;
}

std::size_t channel_count(const TsgView &tsg) {
    std::size_t count = 0;
    for (const SpaceView &space : tsg.spaces)
        count += space.channels.size();
    return count;
}

std::size_t channel_count(const RunlistView &runlist) {
    std::size_t count = 0;
    for (const TsgView &tsg : runlist.tsgs)
        count += channel_count(tsg);
    return count;
}

std::size_t tsg_count(const RunlistView &runlist) {
    return static_cast<std::size_t>(
        std::ranges::count_if(runlist.tsgs, [](const TsgView &tsg) { return tsg.id.has_value(); }));
}

namespace {

ChannelGroup group_of(const nvdebug::Channel &channel) {
    ChannelGroup group{};
    group.disabled = channel.enabled == std::optional(false);
    group.faulted = channel.pbdma_faulted.value_or(false) || channel.engine_faulted.value_or(false);
    std::vector<std::string> words;
    if (channel.error)
        words.push_back(*channel.error);
    if (group.disabled)
        words.push_back("disabled");
    if (channel.pbdma_faulted.value_or(false))
        words.push_back("faulted on PBDMA");
    if (channel.engine_faulted.value_or(false))
        words.push_back("faulted on engine");
    if (channel.status_name && *channel.status_name != "IDLE")
        words.push_back(*channel.status_name);
    group.state = fmt::format("{}", fmt::join(words, ", "));
    return group;
}

std::string name_of(const nvdebug::Place &place) {
    if (!place.address)
        return "hidden";
    std::string text = fmt::format("{:#x}", *place.address);
    return place.aperture ? fmt::format("{} {}", text, nvdebug::name_of(*place.aperture)) : text;
}

} // namespace

std::vector<ChannelGroup> group_channels(const SpaceView &space) {
    std::vector<ChannelGroup> groups;
    for (const nvdebug::Channel *channel : space.channels) {
        ChannelGroup wanted = group_of(*channel);
        auto same = std::find_if(groups.begin(), groups.end(), [&](const ChannelGroup &group) {
            return group.state == wanted.state;
        });
        if (same == groups.end())
            same = groups.insert(groups.end(), wanted);
        same->ids.push_back(channel->id);
    }
    return groups;
}

std::string name_of(const ChannelGroup &group) {
    return fmt::format("{} {}", group.ids.size() == 1 ? "channel" : "channels",
                       fold_ids(group.ids));
}

std::string name_of(const SpaceView &space) {
    if (space.error)
        return fmt::format("address space unknown: {}", *space.error);
    if (!space.page_directory)
        return "address space unknown";
    std::string text = fmt::format("address space {}", name_of(*space.page_directory));
    if (!space.veids.empty())
        text +=
            fmt::format(", VEID{} {}", space.veids.size() == 1 ? "" : "s", fold_ids(space.veids));
    return text;
}

std::string name_of(const TsgView &tsg) {
    if (tsg.id)
        return fmt::format("TSG {}", *tsg.id);
    return fmt::format("channel {} (no TSG)", tsg.spaces.front().channels.front()->id);
}

namespace {

/// TSGs share a line if at least so many neighbours are alike.
constexpr std::size_t alike_to_fold = 8;

/// Returns the values that TSGs must have in common to share a line. Ids and address spaces are not
/// among them. Empty: the TSG has a line of its own.
std::string likeness(const TsgView &tsg) {
    if (!tsg.id || tsg.spaces.size() != 1 || tsg.truncated ||
        (tsg.active_on && !tsg.active_on->empty()))
        return "";
    std::vector<ChannelGroup> groups = group_channels(tsg.spaces.front());
    if (groups.size() != 1)
        return "";
    return fmt::format("{} {} {} {} {} {}", *tsg.timeslice_ns, tsg.headers, share_of(tsg),
                       groups.front().ids.size(), groups.front().state, processes_of(tsg));
}

} // namespace

std::vector<Alike> fold_alike(const RunlistView &runlist) {
    const auto &tsgs = runlist.tsgs;
    std::vector<Alike> folded;
    for (std::size_t first = 0; first < tsgs.size();) {
        const std::string wanted = likeness(tsgs[first]);
        std::size_t end = first + 1;
        while (!wanted.empty() && end < tsgs.size() && likeness(tsgs[end]) == wanted)
            ++end;
        const std::size_t count = end - first >= alike_to_fold ? end - first : 1;
        folded.push_back({first, count});
        first += count;
    }
    return folded;
}

std::string name_of(const RunlistView &runlist, const Alike &alike) {
    if (alike.count == 1)
        return name_of(runlist.tsgs[alike.first]);
    std::vector<std::uint32_t> ids;
    for (std::size_t n = 0; n < alike.count; ++n)
        ids.push_back(*runlist.tsgs[alike.first + n].id);
    return fmt::format("TSGs {}", fold_ids(ids));
}

ChannelGroup channels_of(const RunlistView &runlist, const Alike &alike) {
    ChannelGroup group = group_channels(runlist.tsgs[alike.first].spaces.front()).front();
    group.ids.clear();
    for (std::size_t n = 0; n < alike.count; ++n)
        for (const nvdebug::Channel *channel :
             runlist.tsgs[alike.first + n].spaces.front().channels)
            group.ids.push_back(channel->id);
    return group;
}

std::string processes_of(const TsgView &tsg) {
    return shown_processes(tsg.processes);
}

std::string share_of(const TsgView &tsg) {
    return tsg.share ? shown_percent(*tsg.share * 100) : "-";
}

std::string time_of(std::uint64_t ns) {
    return nvdebug::base::short_time(static_cast<std::int64_t>(ns));
}

std::string timeslice_of(const TsgView &tsg) {
    if (!tsg.timeslice_ns)
        return "-";
    std::string text = time_of(*tsg.timeslice_ns);
    return tsg.headers == 1 ? text : fmt::format("{} x{}", text, tsg.headers);
}

std::string scheduling_of(const RunlistView &runlist) {
    if (!runlist.scheduling)
        return "";
    return *runlist.scheduling ? "scheduling on" : "scheduling off";
}

std::string size_of(const RunlistView &runlist) {
    return fmt::format("{}, {}", count_of(tsg_count(runlist), "TSG"),
                       count_of(channel_count(runlist), "channel"));
}

std::vector<std::string> remarks_on(const RunlistView &runlist) {
    if (!runlist.list)
        return {"cannot be read"};
    std::vector<std::string> remarks;
    if (!runlist.list->channels)
        remarks.push_back("could not be read: its aperture is invalid");
    if (runlist.list->torn)
        remarks.push_back("torn: it moved while it was read, so this is no single list");
    if (runlist.list->pending)
        remarks.push_back("pending: submitted, not yet taken over");
    for (const nvdebug::UnknownEntry *entry : runlist.unknown)
        remarks.push_back(fmt::format("entry {} is neither TSG nor channel: {:#010x}", entry->index,
                                      fmt::join(entry->words, " ")));
    return remarks;
}

std::string name_of_gpu(const State &state) {
    std::string text = state.folder.substr(state.folder.rfind('/') + 1);
    if (!state.info)
        return text;
    text += "  " + state.info->chip.value_or("unknown chip");
    if (state.info->generation)
        text += fmt::format(" ({})", *state.info->generation);
    if (state.info->pci_address)
        text += "  " + *state.info->pci_address;
    return text;
}

} // namespace nvdebugctl
