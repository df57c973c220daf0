// SPDX-License-Identifier: MIT OR GPL-2.0
#include "state.hpp"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <iterator>

#include "cli/json.hpp"
#include "cli/text.hpp"

namespace nvdebugctl {

namespace {

template <typename T>
void note_error(std::vector<nvdebug::Error> &errors, const nvdebug::Result<T> &result) {
    if (!result && !is_absent(result.error()))
        errors.push_back(result.error());
}

void note_list(std::vector<nvdebug::Error> &errors, const nvdebug::Runlist &list,
               const std::string &path) {
    if (list.torn)
        errors.push_back({nvdebug::ErrorCode::busy, 0, path,
                          path + ": the list moved each time it was read; read it again"});
    else if (!list.channels)
        errors.push_back({nvdebug::ErrorCode::io, 0, path,
                          path + ": the list cannot be read, since its aperture is invalid"});
}

/// Removes the occupant of each engine whose list is empty according to @p is_empty.
template <typename Empty>
void drop_strays(std::vector<nvdebug::EngineState> &states, Empty is_empty) {
    for (nvdebug::EngineState &state : states) {
        const bool shows_any = state.current || state.next || state.busy.value_or(false);
        if (!shows_any || !state.runlist || !is_empty(*state.runlist))
            continue;
        state.status = "invalid";
        state.current.reset();
        state.next.reset();
        state.busy = false;
        state.channels.clear();
    }
}

bool is_empty(const nvdebug::Result<nvdebug::Runlist> &list) {
    return list && list->entries == 0U && !list->torn;
}

/// Returns an error if the file lacks the state of some runlists, because their registers cannot be
/// read.
std::optional<nvdebug::Error> error_of_scheduling(const std::map<std::uint32_t, bool> &scheduling,
                                                  const std::vector<std::uint32_t> &ids) {
    std::vector<std::uint32_t> unknown;
    std::ranges::copy_if(ids, std::back_inserter(unknown),
                         [&](std::uint32_t id) { return !scheduling.contains(id); });
    if (unknown.empty())
        return std::nullopt;
    return nvdebug::Error{nvdebug::ErrorCode::io, EIO, "",
                          fmt::format("whether scheduling is on is not shown of runlist{} {}: {} "
                                      "registers cannot be read",
                                      unknown.size() == 1 ? "" : "s", fmt::join(unknown, ", "),
                                      unknown.size() == 1 ? "its" : "their")};
}

} // namespace

bool EngineStates::has_list(std::uint32_t runlist) {
    // Once a runlist had entries, its status words are real.
    if (listed_.contains(runlist))
        return true;
    if (is_empty(gpu_.runlist(runlist, nvdebug::Detail::brief)))
        return false;
    listed_.insert(runlist);
    return true;
}

nvdebug::Result<std::vector<nvdebug::EngineState>> EngineStates::read(nvdebug::Detail detail) {
    auto states = gpu_.engine_states(detail);
    if (states)
        drop_strays(*states, [this](std::uint32_t runlist) { return !has_list(runlist); });
    return states;
}

std::string runlist_file(std::uint32_t runlist) {
    return fmt::format("runlist{}_brief", runlist);
}

State read_state(const nvdebug::Gpu &gpu, std::optional<std::uint32_t> only) {
    State state{gpu.path(""), gpu.info(),           gpu.engines(),   gpu.engine_states(),
                {},           gpu.address_spaces(), gpu.scheduling()};
    while (!state.folder.empty() && state.folder.back() == '/')
        state.folder.pop_back();
    if (only)
        state.runlists.emplace(*only, gpu.runlist(*only, nvdebug::Detail::brief));
    else if (state.info)
        for (std::uint32_t id : state.info->runlists)
            state.runlists.emplace(id, gpu.runlist(id, nvdebug::Detail::brief));
    if (state.now)
        drop_strays(*state.now, [&](std::uint32_t runlist) {
            const auto list = state.runlists.find(runlist);
            return list != state.runlists.end() && is_empty(list->second);
        });
    return state;
}

std::vector<nvdebug::Error> list_errors_of(const State &state) {
    std::vector<nvdebug::Error> errors;
    for (const auto &[id, list] : state.runlists) {
        note_error(errors, list);
        if (list)
            note_list(errors, *list, state.folder + "/" + runlist_file(id));
    }
    return errors;
}

std::vector<std::uint32_t> ids_of(const State &state) {
    std::vector<std::uint32_t> ids;
    for (const auto &[id, list] : state.runlists)
        ids.push_back(id);
    return ids;
}

std::vector<nvdebug::Error> errors_of(const State &state) {
    std::vector<nvdebug::Error> errors = list_errors_of(state);
    note_error(errors, state.info);
    note_error(errors, state.engines);
    note_error(errors, state.now);
    note_error(errors, state.spaces);
    note_error(errors, state.scheduling);
    if (state.scheduling)
        if (auto error = error_of_scheduling(*state.scheduling, ids_of(state)))
            errors.push_back(std::move(*error));
    return errors;
}

tl::unexpected<Failure> no_runlists(const nvdebug::Gpu &gpu) {
    // A GPU that cannot be opened has an `info` as well, so the error comes from another file.
    const auto list = gpu.runlist(0, nvdebug::Detail::brief);
    if (!list && list.error().code != nvdebug::ErrorCode::not_found)
        return tl::unexpected(Failure(list.error()));
    return fail(nvdebug::ErrorCode::unsupported, fmt::format("{} shows no runlists", gpu.folder()));
}

std::optional<std::map<std::uint32_t, bool>>
read_scheduling(Context &context, nvdebug::Result<std::map<std::uint32_t, bool>> result,
                const std::vector<std::uint32_t> &ids) {
    auto scheduling = read_part(context, "whether scheduling is on", std::move(result));
    if (scheduling)
        if (auto error = error_of_scheduling(*scheduling, ids))
            context.missing(std::move(*error));
    return scheduling;
}

tl::unexpected<Failure> no_runlist(const std::string &folder, const std::vector<std::uint32_t> &ids,
                                   std::uint32_t id) {
    return fail(nvdebug::ErrorCode::not_found,
                fmt::format("{} has no runlist {}; it has {}", folder, id, fold_ids(ids)));
}

namespace {

using nvdebug::Detail;
using nvdebug::ErrorCode;
using nvdebug::Runlist;

Outcome<std::vector<std::uint32_t>> ids_of_runlists(const Context &context) {
    const auto info = context.gpu().info();
    if (!info)
        return tl::unexpected(Failure(info.error()));
    if (info->runlists.empty())
        return no_runlists(context.gpu());
    return info->runlists;
}

void say_if_incomplete(Context &context, const Runlist &list) {
    const std::string path = context.gpu().path(fmt::format("runlist{}", list.id));
    if (list.torn)
        context.missing({ErrorCode::busy, 0, path,
                         fmt::format("{}: the list moved each time it was copied, so what is shown "
                                     "mixes old and new; try again",
                                     path)});
    if (!list.tsgs)
        context.missing({ErrorCode::io, 0, path,
                         fmt::format("{}: the list lies in an undefined aperture and cannot be "
                                     "read, so its TSGs and channels are not known",
                                     path)});
}

/// Finds the list that holds the target: among all runlists, or on the runlist that @p target
/// names.
Outcome<Runlist> find_list(Context &context, const nvdebug::Target &target, nvdebug::Listed kind,
                           Detail detail) {
    std::vector<Runlist> lists;
    if (target.runlist) {
        auto list = read_runlist(context, *target.runlist, detail);
        if (!list)
            return list;
        lists.push_back(std::move(*list));
    } else {
        auto all = read_runlists(context, detail);
        if (!all)
            return tl::unexpected(all.error());
        lists = std::move(*all);
    }
    auto holder = nvdebug::holder_of(lists, target, kind);
    if (!holder && !context.missing().empty())
        holder.error().sentence += "; these are the lists that can be read";
    if (!holder)
        return tl::unexpected(Failure(holder.error()));
    return **holder;
}

} // namespace

Outcome<Runlist> read_runlist(Context &context, std::uint32_t id, Detail detail) {
    const auto ids = ids_of_runlists(context);
    if (!ids)
        return tl::unexpected(ids.error());
    if (std::ranges::find(*ids, id) == ids->end())
        return no_runlist(context.gpu().folder(), *ids, id);
    auto list = context.gpu().runlist(id, detail);
    if (!list)
        return tl::unexpected(Failure(list.error()));
    say_if_incomplete(context, *list);
    return *list;
}

Outcome<std::vector<Runlist>> read_runlists(Context &context, Detail detail) {
    if (const auto asked = context.runlists(); !asked.empty()) {
        auto list = read_runlist(context, asked.front(), detail);
        if (!list)
            return tl::unexpected(list.error());
        return std::vector<Runlist>{std::move(*list)};
    }
    const auto ids = ids_of_runlists(context);
    if (!ids)
        return tl::unexpected(ids.error());
    std::vector<Runlist> lists;
    std::vector<nvdebug::Error> errors;
    for (const std::uint32_t id : *ids) {
        auto list = context.gpu().runlist(id, detail);
        if (!list) {
            errors.push_back(list.error());
            continue;
        }
        say_if_incomplete(context, *list);
        lists.push_back(std::move(*list));
    }
    if (lists.empty())
        return tl::unexpected(Failure(errors.front()));
    for (nvdebug::Error &error : errors)
        context.missing(std::move(error));
    return lists;
}

Outcome<Runlist> find_list_of_channel(Context &context, const nvdebug::Target &target,
                                      Detail detail) {
    return find_list(context, target, nvdebug::Listed::channel, detail);
}

Outcome<Runlist> find_list_of_tsg(Context &context, const nvdebug::Target &target, Detail detail) {
    return find_list(context, target, nvdebug::Listed::tsg, detail);
}

std::string passed_over(const nvdebug::Owners &owners) {
    std::vector<std::string> parts;
    if (owners.hidden)
        parts.push_back(fmt::format("{} of other users may not be looked at (use sudo)",
                                    count_of(owners.hidden, "process")));
    if (owners.denied)
        parts.push_back(fmt::format("{} may not be asked about (it takes CAP_SYS_PTRACE)",
                                    count_of(owners.denied, "process")));
    if (owners.ended)
        parts.push_back(fmt::format("{} ended meanwhile", count_of(owners.ended, "process")));
    if (owners.refused)
        parts.push_back(
            fmt::format("NVIDIA's driver did not answer {}", count_of(owners.refused, "question")));
    if (!owners.cut.empty())
        parts.push_back(fmt::format("process {} has more descriptors, clients or objects than are "
                                    "asked about",
                                    fmt::join(owners.cut, ", ")));
    if (owners.lacked)
        parts.push_back(fmt::format("the tool itself lacked something ({})", *owners.lacked));
    return fmt::format("{}", fmt::join(parts, ", "));
}

// If no thread can be started, get() asks the driver itself.
OwnersReader::OwnersReader(const Context &context)
    : answer_(std::async(context.tree().source() == nvdebug::Source::driver
                             ? std::launch::async | std::launch::deferred
                             : std::launch::deferred,
                         [gpu = context.gpu()] { return gpu.owners(); })) {}

nvdebug::Owners OwnersReader::get(Context &context) {
    auto owners = read_part(context, "which process made a channel", answer_.get());
    if (!owners)
        return {};
    if (const std::string over = passed_over(*owners); !over.empty())
        context.note("not every channel's process is known: " + over);
    return std::move(*owners);
}

std::optional<EngineNames> read_engine_names(Context &context) {
    const auto engines =
        read_part(context, "which engines a runlist serves", context.gpu().engines());
    if (!engines)
        return std::nullopt;
    EngineNames names;
    for (const auto &[runlist, list] : nvdebug::engines_by_runlist(*engines))
        for (const nvdebug::Engine *engine : list)
            names[runlist].push_back(engine->name);
    return names;
}

Json engines_of(const std::optional<EngineNames> &names, std::uint32_t runlist) {
    if (!names)
        return nullptr;
    const auto found = names->find(runlist);
    return found == names->end() ? Json::array() : Json(found->second);
}

std::map<std::uint32_t, Json> shares_of(const Runlist &list) {
    std::map<std::uint32_t, Json> shares;
    for (const nvdebug::TsgShare &share : nvdebug::expected_shares(list))
        shares[share.tsg] = percent(share.share);
    return shares;
}

} // namespace nvdebugctl
