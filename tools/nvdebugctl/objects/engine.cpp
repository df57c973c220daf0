// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

#include "cli/json.hpp"
#include "cli/page.hpp"
#include "cli/text.hpp"
#include "objects.hpp"
#include "state/copy_wiring.hpp"
#include "state/state.hpp"
#include "state/task_owners.hpp"

namespace nvdebugctl {

namespace {

using nvdebug::Engine;
using nvdebug::EngineState;

Json row(const Engine &engine, const EngineState *state, const TaskOwners &owners) {
    const auto of_state = [&](auto member) { return state ? or_null(state->*member) : Json(); };
    return {{"engine", engine.name},
            {"type", engine.type},
            {"instance", engine.instance},
            {"runlist", or_null(engine.runlist)},
            {"status", of_state(&EngineState::status)},
            {"current", state ? occupant(state->current) : Json()},
            {"processes", processes(state ? owners.of(engine.runlist, state->current)
                                          : std::vector<nvdebug::Process>())},
            {"next", state ? occupant(state->next) : Json()},
            {"busy", of_state(&EngineState::busy)},
            {"faulted", of_state(&EngineState::faulted)},
            {"reload", of_state(&EngineState::reload)},
            {"channels", state ? Json(state->channels) : Json()},
            {"pbdmas", engine.pbdmas},
            {"engine_id", or_null(engine.engine_id)},
            {"fault_id", or_null(engine.fault_id)},
            {"reset_id", or_null(engine.reset_id)},
            {"intr_id", or_null(engine.intr_id)},
            {"runlist_base", hex(engine.runlist_base)},
            {"pri_base", hex(engine.pri_base)}};
}

/// Reads the lists of the tasks that are on engines. It reads none if the source knows no
/// processes.
TaskOwners read_owners(Context &context, const std::vector<EngineState> &states,
                       OwnersReader &reader) {
    TaskOwners found;
    const nvdebug::Owners owners = reader.get(context);
    if (owners.channels.empty())
        return found;
    std::set<std::uint32_t> runlists;
    for (const EngineState &state : states)
        if (state.current && state.runlist)
            runlists.insert(*state.runlist);
    for (const std::uint32_t id : runlists)
        if (const auto list = read_part(context, "which process is on an engine",
                                        context.gpu().runlist(id, nvdebug::Detail::brief)))
            found.add(*list, owners);
    return found;
}

Outcome<Document> list_engines(Context &context) {
    OwnersReader reader(context);
    const auto engines = context.gpu().engines();
    if (!engines)
        return tl::unexpected(Failure(engines.error()));
    const auto states =
        read_part(context, "who is on the engines", EngineStates(context.gpu()).read());
    const TaskOwners owners = states ? read_owners(context, *states, reader) : TaskOwners();
    Json rows = Json::array();
    for (const Engine &engine : *engines) {
        const EngineState *state = nullptr;
        if (states)
            if (const auto found = std::ranges::find(*states, engine.name, &EngineState::engine);
                found != states->end())
                state = &*found;
        rows.push_back(row(engine, state, owners));
    }
    return Document{rows};
}

/// Returns the numbers of the PCEs on which both engines' copies run; null: they are not public.
Outcome<Json> common_pces(Context &context, const Engine &a, const Engine &b) {
    // Other engines do not copy, or are physical copy engines themselves (Kepler, Maxwell).
    if (a.type != "LCE" || b.type != "LCE")
        return Json::array();
    const auto copy = context.gpu().copy_topology();
    if (!copy) {
        if (is_absent(copy.error()))
            return Json();
        return tl::unexpected(Failure(copy.error()));
    }
    std::uint32_t common = ~std::uint32_t{0};
    for (const Engine *const engine : {&a, &b}) {
        const auto lce =
            std::ranges::find(copy->lces, engine->name, &nvdebug::LogicalCopyEngine::name);
        if (lce == copy->lces.end())
            return Json();
        common &= nvdebug::pces_of(*copy, *lce);
    }
    return Json(bits_of(common));
}

Outcome<std::vector<const Engine *>> named(const Context &context,
                                           const std::vector<Engine> &engines) {
    std::vector<const Engine *> found;
    for (const std::string &name : context.words("ENGINE")) {
        found.push_back(nvdebug::find_engine(engines, name));
        if (!found.back()) {
            std::vector<std::string> known;
            std::ranges::transform(engines, std::back_inserter(known), &Engine::name);
            return fail(
                nvdebug::ErrorCode::not_found,
                fmt::format("{} has no engine '{}'{}; 'nvdebugctl engine list' lists its {}",
                            context.gpu().folder(), name, guess(name, known),
                            count_of(known.size(), "engine")));
        }
    }
    return found;
}

Outcome<Document> shared_by_two(Context &context) {
    const auto engines = context.gpu().engines();
    if (!engines)
        return tl::unexpected(Failure(engines.error()));
    const auto pair = named(context, *engines);
    if (!pair)
        return tl::unexpected(pair.error());
    const Engine &a = *pair->front(), &b = *pair->back();
    if (&a == &b)
        return usage(fmt::format("'{}' and '{}' are one engine; name two",
                                 context.words("ENGINE").front(), context.words("ENGINE").back()));
    const bool shared = nvdebug::share_runlist(a, b);
    auto pces = common_pces(context, a, b);
    if (!pces && context.flag("--pces"))
        return tl::unexpected(pces.error());
    if (context.flag("--pces") && pces->is_null() && !shared)
        return fail(nvdebug::ErrorCode::unsupported,
                    fmt::format("which PCEs serve the copy engines of {} is not public, so "
                                "--pces cannot be answered",
                                context.gpu().folder()));
    Json note;
    if (!pces) {
        note = "not known: " + pces.error().error.sentence;
        context.missing(pces.error().error);
    } else if (pces->is_null()) {
        note = "not public on this chip";
    }
    const Json both = {{"engines", {a.name, b.name}},
                       {"runlists", {or_null(a.runlist), or_null(b.runlist)}},
                       {"share_runlist", shared},
                       {"contended_pces", pces ? *pces : Json()},
                       {"contended_pces_note", note}};
    Document document{both};
    const bool contend = pces && !pces->empty();
    document.exit = shared || (context.flag("--pces") && contend) ? refused : done;
    return document;
}

Outcome<void> check_shared(const Context &context) {
    const auto &names = context.words("ENGINE");
    if (names.size() != 0 && names.size() != 2)
        return usage(fmt::format("'engine shared' takes two engines or none, not {}: {}",
                                 names.size(), fmt::join(names, " ")));
    for (const char *option : {"--csv", "--columns", "--no-header"})
        if (!names.empty() && context.flag(option))
            return usage(fmt::format("'engine shared ENGINE ENGINE' does not take {}: it is "
                                     "no table; -j is for programs",
                                     option));
    for (const char *option : {"--quiet", "--pces"})
        if (names.empty() && context.flag(option))
            return usage(
                fmt::format("'engine shared' does not take {} without two engines", option));
    return {};
}

Outcome<Document> list_shared_engines(Context &context) {
    if (!context.words("ENGINE").empty())
        return shared_by_two(context);
    const auto engines = context.gpu().engines();
    if (!engines)
        return tl::unexpected(Failure(engines.error()));
    Json rows = Json::array();
    for (const auto &[runlist, list] : nvdebug::engines_by_runlist(*engines)) {
        if (list.size() < 2)
            continue;
        Json sharing = Json::array();
        for (const Engine *engine : list)
            sharing.push_back(engine->name);
        rows.push_back({{"runlist", runlist}, {"engines", sharing}});
    }
    return Document{rows};
}

std::string runlist_of(const Json &data, std::size_t i) {
    const Json &runlist = data["runlists"][i];
    return runlist.is_null() ? "no runlist" : "runlist " + runlist.dump();
}

/// Returns whether both engines' copies run on the same PCEs, as the end of a sentence; empty: they
/// do not.
std::string contention_of(const Json &data, const Page &page, std::string_view link) {
    const Json &pces = data["contended_pces"];
    if (pces.is_null())
        return fmt::format("; whether they share a PCE (R8) is {}",
                           data["contended_pces_note"].get<std::string>());
    if (pces.empty())
        return "";
    return fmt::format("{} {} for PCE{} {} (R8)", link, page.warning("contend"),
                       pces.size() == 1 ? "" : "s",
                       fold_ids(pces.get<std::vector<std::uint32_t>>()));
}

void print_pair(const Json &data, Page &page) {
    const auto engine = [&](std::size_t i) {
        return page.bold(data["engines"][i].get<std::string>());
    };
    if (data["share_runlist"].get<bool>()) {
        page.line(fmt::format("{} and {} {} {}: each waits for the other's TSGs{}", engine(0),
                              engine(1), page.warning("share"), runlist_of(data, 0),
                              contention_of(data, page, ", and their copies")));
        return;
    }
    page.line(fmt::format("{} ({}) and {} ({}) {}share no runlist{}", engine(0),
                          runlist_of(data, 0), engine(1), runlist_of(data, 1),
                          data["contended_pces"] == Json::array() ? "are independent: they " : "",
                          contention_of(data, page, ", but")));
}

} // namespace

std::vector<Command> engine_commands() {
    return {
        {.object = "engine",
         .verb = "list",
         .help = "engines, their runlists and ids, and the tasks on them now",
         .columns = {{"engine", "name: type and instance", "string"},
                     {"type", "type as device_info has it", "string", false},
                     {"instance", "instance of that type", "uint", false},
                     {"runlist", "runlist that serves it; null: Host does not drive it", "uint?"},
                     {"status",
                      "'invalid' (no task is on it), 'valid', 'load', 'save', 'switch', "
                      "'undefined-N' or 'unreadable'; null: may not be read, or not public here",
                      "string?"},
                     {"current", "'tsg:N' or 'channel:N' on it; null: none, or unknown as status",
                      "occupant?"},
                     {"processes", "the processes of that task, as far as known", "[process]"},
                     {"next", "the task that it switches to; null: none", "occupant?"},
                     {"busy", "the engine is busy", "bool?"},
                     {"faulted", "it faulted; null: means nothing for this engine", "bool?", false},
                     {"reload", "its context is to be loaded again", "bool?", false},
                     {"channels", "channels that feed it (Ampere and newer)", "[uint]?", false},
                     {"pbdmas", "PBDMAs that serve its runlist, in runqueue order", "[uint]"},
                     {"engine_id", "Host's number of the engine", "uint?", false},
                     {"fault_id", "MMU fault id", "uint?", false},
                     {"reset_id", "reset id", "uint?", false},
                     {"intr_id", "interrupt id", "uint?", false},
                     {"runlist_base",
                      "offset of the runlist's registers in BAR0 (Ampere and newer)", "address",
                      false},
                     {"pri_base", "offset of the engine's registers in BAR0", "address", false}},
         .data = "engines in the order of device_info",
         .notes = {"Who is on an engine may be read by root only, unless the module's parameters "
                   "say otherwise."},
         .examples = {{"nvdebugctl engine list", "the tasks that run now"},
                      {"nvdebugctl engine list --csv --columns engine,runlist",
                       "which runlist serves which engine"}},
         .run = list_engines},
        {.object = "engine",
         .verb = "shared",
         .help = "whether two engines share a runlist; without engines: which do",
         .arguments =
             {{"ENGINE", Argument::Kind::engine,
               "two engines, as 'engine list' names them, in any case; none: all that share",
               Argument::Count::any}},
         .options = {{"--quiet", "print nothing; the exit status is the answer"},
                     {"--pces", "contending for PCEs (rule R8) counts as sharing"}},
         .columns = {{"runlist", "a runlist that serves more than one engine", "uint"},
                     {"engines", "those engines, in the order of device_info", "[string]"}},
         .data = "without engines: runlists that serve more than one; with two: the answer",
         .type = "either",
         .fields =
             {{"",
               "runlists by rising id",
               "[object]",
               {{"runlist", "a runlist that serves more than one engine", "uint"},
                {"engines", "those engines, in the order of device_info", "[string]"}}},
              {"",
               "",
               "object",
               {{"engines", "the two engines", "[2 string]"},
                {"runlists", "the runlist of each; null: Host does not drive it", "[2 integer?]"},
                {"share_runlist", "the two wait for each other (rules R4, R6)", "bool"},
                {"contended_pces",
                 "numbers of the PCEs on which copies of both run (rule R8); null: not known here",
                 "[uint]?"},
                {"contended_pces_note", "why contended_pces is null; null: it is known",
                 "string?"}}}},
         .notes = {"Of two engines: exit status 0 if they are independent, 2 if they share a "
                   "runlist (or a PCE, with --pces)."},
         .examples = {{"nvdebugctl engine shared", "runlists with more than one engine"},
                      {"nvdebugctl engine shared LCE2 GR0 --quiet",
                       "for a script: fails when the two share a runlist"}},
         .check = check_shared,
         .run = list_shared_engines,
         .text = print_pair},
    };
}

} // namespace nvdebugctl
