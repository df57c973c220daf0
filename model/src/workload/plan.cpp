// SPDX-License-Identifier: MIT OR GPL-2.0
#include "workload/plan.hpp"

#include "base/error.hpp"
#include "regs/ramrl.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace nvmodel {
namespace {

/// Ids in use: one set for the GPU, or one for each runlist.
class IdSpaces {
  public:
    IdSpaces(const Board &board, unsigned limit, std::string what)
        : board_(board.name), per_runlist_(board.ids_per_runlist()), limit_(limit),
          what_(std::move(what)) {}

    void reserve(unsigned runlist, unsigned id, const JsonValue &where) {
        if (id >= limit_)
            where.fail(what_ + " id " + std::to_string(id) + " is not below the board's " +
                       std::to_string(limit_));
        if (!used_.emplace(space(runlist), id).second)
            where.fail(
                what_ + " id " + std::to_string(id) + " is used twice" +
                (per_runlist_ ? " on this runlist" : "; on board " + board_ + " ids are global"));
    }

    unsigned take_lowest(unsigned runlist, const JsonValue &where) {
        unsigned &next = next_[space(runlist)];
        while (used_.contains({space(runlist), next}))
            ++next;
        reserve(runlist, next, where);
        return next;
    }

  private:
    [[nodiscard]] unsigned space(unsigned runlist) const { return per_runlist_ ? runlist : 0; }

    std::string board_;
    bool per_runlist_;
    unsigned limit_;
    std::string what_;
    std::set<std::pair<unsigned, unsigned>> used_;
    std::map<unsigned, unsigned> next_;
};

bool has_pce(const Board &board, EngineName engine) {
    if (engine.type == EngineType::copy)
        return true;
    const unsigned lce = engine.instance;
    for (const auto &pces : {board.copy.pce_lce, board.copy.second_die})
        if (std::ranges::find(pces, std::optional(lce)) != pces.end())
            return true;
    if (lce >= board.copy.grces.size() || !board.copy.grces[lce].shared)
        return false;
    const auto &lent = board.copy.grces[lce].lce;
    return std::ranges::find(board.copy.pce_lce, lent) != board.copy.pce_lce.end();
}

/// Puts the number of the repetition in place of {n}, as in "task{n}".
std::string numbered(const std::string &text, unsigned n) {
    const auto at = text.find("{n}");
    return at == std::string::npos ? text
                                   : text.substr(0, at) + std::to_string(n) + text.substr(at + 3);
}

class Planner {
  public:
    Planner(const Workload &workload, const Board &board)
        : workload_(workload), board_(board), channel_ids_(board, board.channels, "channel"),
          tsg_ids_(board, std::min(board.channels, 4096U), "TSG") {
        if (!board.generation->has_video_memory())
            refuse_video_memory();
        plan_.name = workload.name;
        plan_.unified_memory = !board.generation->has_video_memory();
        plan_.placement = workload.placement;
        plan_.bars = workload.bars;
        plan_.runlist_aperture = workload.runlist_aperture;
    }

    Plan run() {
        for (const EntrySpec &entry : workload_.entries)
            if (const auto *group = std::get_if<GroupSpec>(&entry))
                reserve_ids(*group);
        for (const EntrySpec &entry : workload_.entries)
            std::visit([this](const auto &spec) { add(spec); }, entry);
        for (const auto &[name, spec] : workload_.address_spaces)
            if (!known_spaces_.contains(name))
                spec.where->fail("no TSG has this address space");
        return std::move(plan_);
    }

  private:
    /// Refuses what can only be in video memory, on boards without it. Structures that are in video
    /// memory by default go to system memory there.
    void refuse_video_memory() const {
        const std::string where = "workload " + workload_.name + " does not fit board " +
                                  board_.name + ", which has no video memory: ";
        if (workload_.placement == Placement::low)
            throw ConfigError(where + "its structures are to lie low in it");
        if (workload_.bars == BarSetup::physical)
            throw ConfigError(where + "BAR1 and BAR2 are to show it");
        if (workload_.bars == BarSetup::mapped)
            throw ConfigError(where + "BAR2 is to show it");
    }

    [[nodiscard]] const EngineRow &resolve(const EngineChoice &choice) const {
        const EngineRow *found = nullptr;
        if (choice.name) {
            found = board_.engine_meant(*choice.name);
            if (found == nullptr)
                choice.where.fail("board " + board_.name + " has no engine " +
                                  to_string(*choice.name));
        } else {
            const auto async = std::ranges::find_if(board_.engines, [&](const EngineRow &row) {
                return is_copy_engine(row.name.type) && row.runlist &&
                       !board_.on_graphics_runlist(row) && has_pce(board_, row.name);
            });
            found = async != board_.engines.end()     ? &*async
                    : board_.bus == BusKind::platform ? board_.last_copy_engine()
                                                      : nullptr;
            if (found == nullptr)
                choice.where.fail("board " + board_.name + " has no async copy engine");
        }
        if (!found->runlist)
            choice.where.fail(to_string(found->name) + " of board " + board_.name +
                              " has no runlist");
        return *found;
    }

    [[nodiscard]] unsigned tsg_length_max() const {
        return board_.generation->entry == EntryFormat::words2 ? regs::ramrl::w8::tsg_length_max
                                                               : regs::ramrl::w16::tsg_length_max;
    }

    void reserve_ids(const GroupSpec &group) {
        const unsigned runlist = *resolve(group.engine).runlist;
        if (group.id)
            tsg_ids_.reserve(runlist, *group.id, group.where);
        for (const ChannelSpec &channel : group.channels)
            if (channel.id)
                channel_ids_.reserve(runlist, *channel.id, channel.where);
    }

    std::size_t add_channel(const GroupSpec &group, const ChannelSpec &spec, const EngineRow &home,
                            PlannedChannel planned) {
        const Generation &generation = *board_.generation;
        const EngineRow &engine = spec.engine ? resolve(*spec.engine) : home;
        if (engine.runlist != home.runlist)
            spec.where.fail(to_string(engine.name) + " of board " + board_.name +
                            " is not on the runlist of " + to_string(home.name));
        if (is_copy_engine(engine.name.type) && spec.work.kind != Work::Kind::idle &&
            !has_pce(board_, engine.name))
            spec.where.fail(to_string(engine.name) + " of board " + board_.name +
                            " has no physical copy engine, so it cannot do work");
        if (spec.subcontext >= group.address_spaces.size())
            spec.where.fail("the TSG has no address space for that subcontext");
        const auto &pbdmas = board_.find_runlist(*home.runlist)->pbdmas;
        planned.runlist = *home.runlist;
        planned.engine = engine.name;
        planned.id = spec.id ? *spec.id : channel_ids_.take_lowest(*home.runlist, spec.where);
        planned.work = spec.work;
        planned.enabled = spec.enabled;
        // A board's missing features are left out, as a driver would do: a second runqueue, and
        // marks of a fault (a driver then keeps the channel disabled).
        planned.runqueue = spec.runqueue < pbdmas.size() ? spec.runqueue : 0;
        planned.subcontext = spec.subcontext;
        if (generation.fault_bits)
            planned.fault = spec.fault;
        else if (spec.fault != ChannelFault::none)
            planned.enabled = false;
        plan_.channels.push_back(std::move(planned));
        return plan_.channels.size() - 1;
    }

    [[nodiscard]] PlannedChannel channel_of(const GroupSpec &group, unsigned n) {
        PlannedChannel planned;
        planned.task = numbered(group.task, n);
        planned.timeslice = group.timeslice.value_or(board_.default_timeslice);
        for (const std::string &space : group.address_spaces)
            planned.address_spaces.push_back(address_space(space, n));
        planned.instance_aperture = group.instance_aperture.value_or(workload_.instance_aperture);
        planned.context = group.context;
        planned.privileged = group.privileged;
        return planned;
    }

    /// Returns the address space of a repetition. The file may describe it for all repetitions or
    /// for this one.
    std::string address_space(const std::string &name, unsigned n) {
        std::string own = numbered(name, n);
        const auto &specs = workload_.address_spaces;
        const auto spec = specs.contains(own) ? specs.find(own) : specs.find(name);
        if (spec != specs.end())
            known_spaces_.insert(spec->first);
        plan_.address_spaces.try_emplace(own,
                                         spec != specs.end() ? spec->second : AddressSpaceSpec{});
        return own;
    }

    void add_channels(const GroupSpec &group, const EngineRow &home, PlannedTsg &tsg, unsigned n) {
        for (const ChannelSpec &spec : group.channels)
            for (unsigned i = 0; i < spec.repeat; ++i) {
                PlannedChannel planned = channel_of(group, n);
                planned.tsg = plan_.tsgs.size();
                tsg.channels.push_back(add_channel(group, spec, home, std::move(planned)));
            }
        if (tsg.channels.empty() || tsg.channels.size() > tsg_length_max())
            group.where.fail("a TSG has 1 to " + std::to_string(tsg_length_max()) +
                             " channels on board " + board_.name);
    }

    void add_tsg(const GroupSpec &group, const EngineRow &home, unsigned n) {
        PlannedTsg tsg;
        tsg.runlist = *home.runlist;
        tsg.id = group.id ? *group.id : tsg_ids_.take_lowest(*home.runlist, group.where);
        tsg.task = numbered(group.task, n);
        tsg.timeslice = group.timeslice.value_or(board_.default_timeslice);
        add_channels(group, home, tsg, n);
        const auto length = static_cast<unsigned>(tsg.channels.size());
        const unsigned field_max = board_.generation->entry == EntryFormat::words2
                                       ? regs::ramrl::w8::tsg_length.max()
                                       : regs::ramrl::w16::w1_tsg_length.max();
        tsg.header_length = std::min(group.length.value_or(length), field_max);
        plan_.lists[tsg.runlist].push_back(PlannedTsgEntry{plan_.tsgs.size()});
        plan_.tsgs.push_back(std::move(tsg));
    }

    /// Adds a bare channel, also to lists of boards where it is not legal: so a workload shows how
    /// Host treats it.
    void add_bare(const GroupSpec &group, const EngineRow &home, unsigned n) {
        const std::size_t channel =
            add_channel(group, group.channels.front(), home, channel_of(group, n));
        plan_.lists[*home.runlist].push_back(PlannedChannelEntry{channel});
    }

    void add(const GroupSpec &group) {
        const EngineRow &home = resolve(group.engine);
        if (group.address_spaces.size() > 1 && !board_.generation->subcontexts)
            group.where.fail("board " + board_.name + " has no subcontexts");
        if ((group.context.graphics || group.context.compute) &&
            !board_.generation->context.preemption_modes)
            group.where.fail("board " + board_.name + " has no modes of preemption");
        for (unsigned n = 0; n < group.repeat; ++n)
            group.bare ? add_bare(group, home, n) : add_tsg(group, home, n);
    }

    void add(const AgainSpec &again) {
        const auto found = std::ranges::find(plan_.tsgs, again.task, &PlannedTsg::task);
        if (found == plan_.tsgs.end())
            again.where.fail("no TSG above has the task \"" + again.task + "\"");
        const auto index = static_cast<std::size_t>(found - plan_.tsgs.begin());
        plan_.lists[found->runlist].push_back(PlannedTsgEntry{index});
    }

    void add(const RawSpec &raw) {
        PlannedRawEntry entry;
        if (board_.generation->entry == EntryFormat::words2)
            entry.words.assign(raw.words2.begin(), raw.words2.end());
        else
            entry.words.assign(raw.words4.begin(), raw.words4.end());
        plan_.lists[*resolve(raw.engine).runlist].push_back(std::move(entry));
    }

    const Workload &workload_;
    const Board &board_;
    IdSpaces channel_ids_;
    IdSpaces tsg_ids_;
    std::set<std::string> known_spaces_; // names that the file describes
    Plan plan_;
};

} // namespace

bool Plan::needs_system_memory() const {
    return unified_memory || runlist_aperture != Aperture::video ||
           std::ranges::any_of(channels,
                               [](const PlannedChannel &channel) {
                                   return channel.instance_aperture != Aperture::video;
                               }) ||
           std::ranges::any_of(address_spaces, [](const auto &space) {
               return space.second.directory_aperture != Aperture::video ||
                      space.second.table_aperture != Aperture::video;
           });
}

Plan make_plan(const Workload &workload, const Board &board) {
    return Planner(workload, board).run();
}

} // namespace nvmodel
