// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

#include "cli/identity.hpp"
#include "cli/joined.hpp"
#include "cli/json.hpp"
#include "cli/page.hpp"
#include "cli/text.hpp"
#include "control/control.hpp"
#include "control/lease_time.hpp"
#include "restore.hpp"
#include "select.hpp"
#include "shares.hpp"
#include "sharing.hpp"
#include "state/state.hpp"
#include "state/tasks.hpp"
#include "state/tpcs.hpp"
#include "task.hpp"
#include "task_list.hpp"

namespace nvdebugctl {

namespace {

using nvdebug::Detail;
using nvdebug::ErrorCode;
using nvdebug::OwnedTsg;
using nvdebug::OwnersOnLists;
using Pids = std::vector<std::uint32_t>;

Outcome<void> check_control(const Context &context) {
    if (auto selection = check_selection(context); !selection)
        return selection;
    return check_lease_time(context);
}

/// Observes a property of each process's TSGs and channels. If lists may not be read, it observes
/// only the driver's answers.
template <typename Look>
Observe observe(Context &context, Pids pids, const char *property, Look look,
                Detail detail = Detail::brief) {
    return [&context, pids = std::move(pids), property, look,
            detail]() -> Outcome<std::vector<Observation>> {
        const auto tasks = nvdebug::owners_on_lists(context.gpu(), detail);
        if (!tasks)
            return tl::unexpected(Failure(tasks.error()));
        std::vector<Observation> seen;
        for (const std::uint32_t pid : pids) {
            const auto &processes = tasks->owners().processes;
            const auto tsgs = nvdebug::tsgs_of(tasks->owners(), pid);
            seen.push_back(
                {Observation::Kind::task,
                 {std::nullopt, pid},
                 property,
                 tsgs.empty() ? Json() : look(*tasks, tsgs),
                 std::ranges::find(processes, pid, &nvdebug::Process::pid) == processes.end()});
        }
        return seen;
    };
}

Json enabled_channels(const OwnersOnLists &tasks, const std::vector<OwnedTsg> &tsgs) {
    std::optional<std::uint32_t> count;
    for (const OwnedTsg &tsg : tsgs)
        for (const nvdebug::OwnedChannel *const channel : tsg)
            if (const auto *const place = tasks.place_of(*channel);
                place && place->channel->enabled)
                count = count.value_or(0) + *place->channel->enabled;
    return or_null(count);
}

/// Returns the engines that the TSGs are on now; null: not known.
Json engines_of_tsgs(const Context &context, const OwnersOnLists &tasks,
                     const std::vector<OwnedTsg> &tsgs) {
    const auto states = EngineStates(context.gpu()).read();
    const auto places = places_of(tasks, tsgs);
    if (!states || places.empty())
        return nullptr;
    Json engines = Json::array();
    for (const nvdebug::EngineState &state : *states)
        for (const nvdebug::RunlistPlace *const place : places)
            if (place->tsg && state.runlist == place->runlist &&
                state.current == nvdebug::Occupant{nvdebug::Occupant::Kind::tsg, *place->tsg})
                engines.push_back(state.engine);
    return engines;
}

/// Returns the number of entries that lists have for the TSGs; null: not known.
Json entries(const OwnersOnLists &tasks, const std::vector<OwnedTsg> &tsgs) {
    std::optional<std::size_t> count;
    for (const OwnedTsg &tsg : tsgs)
        if (const auto headers = tasks.headers_of(tsg); !headers.empty())
            count = count.value_or(0) + headers.size();
    return or_null(count);
}

Json compute_preemptions(const OwnersOnLists &tasks, const std::vector<OwnedTsg> &tsgs) {
    std::vector<Json> modes;
    for (const OwnedTsg &tsg : tsgs)
        for (const nvdebug::OwnedChannel *const channel : tsg)
            if (const auto *const place = tasks.place_of(*channel))
                if (const auto &instance = place->channel->instance; instance && instance->context)
                    modes.push_back(or_null(instance->context->compute_preemption));
    Json found = distinct(modes);
    return found.empty() ? Json() : found;
}

/// Carries out a request as carry_out() does. Adds a note if only the driver's answers can be
/// observed.
Outcome<Document> carry_out_task(Context &context, const nvdebug::Request &request,
                                 const Observe &observation) {
    auto document = carry_out(context, request, observation);
    if (document && context.gpu().info()->runlists.empty())
        context.note("only root can see the effect on the GPU: these are the driver's answers");
    return document;
}

Outcome<Document> pause(Context &context) {
    const auto pids = selected(context);
    if (!pids)
        return tl::unexpected(pids.error());
    return carry_out_task(context, nvdebug::pause_tasks(*pids),
                          observe(context, *pids, "enabled_channels", enabled_channels));
}

Outcome<Document> resume(Context &context) {
    const auto pids = selected(context);
    if (!pids)
        return tl::unexpected(pids.error());
    return carry_out_task(context, nvdebug::resume_tasks(*pids),
                          observe(context, *pids, "enabled_channels", enabled_channels));
}

Outcome<Document> preempt(Context &context) {
    const auto pids = selected(context);
    if (!pids)
        return tl::unexpected(pids.error());
    return carry_out_task(
        context, nvdebug::preempt_tasks(*pids),
        observe(context, *pids, "on_engines",
                [&context](const OwnersOnLists &tasks, const std::vector<OwnedTsg> &tsgs) {
                    return engines_of_tsgs(context, tasks, tsgs);
                }));
}

constexpr std::array<const char *, 3> tpc_options = {"--tpcs", "--gpcs", "--sms"};

/// Has nvtaskset set the TPCs of the processes, and returns a control's document, though no file is
/// written.
Outcome<Document> set_tpcs_of_all(Context &context, const Pids &pids, const std::string &option,
                                  const std::string &value) {
    const auto info = context.gpu().info();
    if (!info || !info->pci_address)
        return fail(ErrorCode::unsupported, "a GPU without a PCI address has no partitions");
    const bool dry = context.flag("--dry-run");
    Json changes = Json::array();
    for (const std::uint32_t pid : pids) {
        const Json old = keeping_of(context, pid)["tpcs"];
        if (!dry)
            if (auto set = set_tpcs(pid, *info->pci_address, option, value); !set) {
                Failure failure = std::move(set).error();
                if (!changes.empty()) {
                    failure.exit = partial;
                    failure.error.sentence +=
                        fmt::format("; those of the {} before it are set", changes.size());
                }
                return tl::unexpected(std::move(failure));
            }
        changes.push_back({{"object", "task"},
                           {"runlist", nullptr},
                           {"id", pid},
                           {"property", "tpcs"},
                           {"old", old},
                           {"new", dry ? Json() : keeping_of(context, pid)["tpcs"]}});
    }
    Document document;
    document.data = {{"dry_run", dry},
                     {"refused", nullptr},
                     {"write",
                      {{"file", "nvtaskset"},
                       {"text", fmt::format("-p {} {} {}", option, value, fmt::join(pids, " "))}}},
                     {"lease", false},
                     {"lease_seconds", nullptr},
                     {"changes", std::move(changes)}};
    return document;
}

Outcome<Document> set(Context &context) {
    if (context.value("--share"))
        return set_shares(context);
    const auto pids = selected(context);
    if (!pids)
        return tl::unexpected(pids.error());
    for (const char *const option : tpc_options)
        if (const auto value = context.value(option))
            return set_tpcs_of_all(context, *pids, option, *value);
    if (const auto time = context.value("--timeslice"))
        return carry_out_task(context, nvdebug::set_task_timeslice(*pids, *parse_time_ns(*time)),
                              observe(context, *pids, "timeslice_us", timeslices_of));
    if (const auto level = context.value("--interleave"))
        return carry_out_task(
            context, nvdebug::set_task_interleave(*pids, *nvdebug::parse_interleave(*level)),
            observe(context, *pids, "entries", entries));
    const auto mode = *context.value("--preemption");
    return carry_out_task(
        context, nvdebug::set_task_preemption(*pids, *nvdebug::parse_preemption_mode(mode)),
        observe(context, *pids, "compute_preemption", compute_preemptions, Detail::full));
}

Outcome<void> check_set(const Context &context) {
    std::size_t given = 0;
    for (const char *const option :
         {"--timeslice", "--share", "--interleave", "--preemption", "--tpcs", "--gpcs", "--sms"})
        given += context.value(option).has_value();
    if (given != 1)
        return usage(
            given ? "only one of --timeslice, --share, --interleave, --preemption, --tpcs, --gpcs "
                    "and --sms can be "
                    "set at a time"
                  : "nothing to set: give --timeslice TIME, --share PERCENT, --interleave LEVEL, "
                    "--preemption MODE, --tpcs LIST, --gpcs LIST or --sms N");
    if (context.value("--for") && std::ranges::any_of(tpc_options, [&](const char *option) {
            return context.value(option).has_value();
        }))
        return usage("--for is not valid with --tpcs, --gpcs and --sms: TPCs stay as they are set");
    if (const auto time = context.value("--timeslice")) {
        const auto ns = parse_time_ns(*time);
        if (!ns)
            return usage(fmt::format("--timeslice takes a time with its unit, as 500us, 2ms or "
                                     "1.5ms, not {}",
                                     quote(*time)));
        if (!nvdebug::is_settable_timeslice(*ns))
            return usage(fmt::format("a timeslice is 100us to 1s in whole microseconds, since a "
                                     "switch alone takes 84us (on an H100); {} is not",
                                     *time));
    }
    if (const auto text = context.value("--share")) {
        const auto shares = parse_shares(*text);
        const std::size_t pids = context.words("PID").size();
        if (!shares)
            return usage(fmt::format("--share takes a part such as 25%, not {}{}", quote(*text),
                                     nvdebug::base::percent_guess(*text)));
        if (shares->size() > 1 && shares->size() != pids)
            return usage(fmt::format("--share has {} parts for {} PIDs: one for all, or one for "
                                     "each in this order",
                                     shares->size(), pids));
    }
    if (context.flag("--hold") && (!context.value("--share") || context.value("--for")))
        return usage("--hold is valid with --share only, and without --for");
    return check_control(context);
}

} // namespace

std::vector<Command> task_commands() {
    const Argument pids{"PID", Argument::Kind::text, "number of a process; or an option says which",
                        Argument::Count::any};
    std::vector<Option> set_options = selection_options();
    set_options.insert(
        set_options.end(),
        {{"--timeslice", "how long a turn of each of its TSGs is: 500us, 2ms; 100us to 1s", "TIME"},
         {"--share",
          "its part of GR0's time while all have work, as 25%; all that --container, --pod, --job, "
          "--cgroup or --all-of select have it together; one for each PID: 25%,50%",
          "PERCENT"},
         {"--hold", "with --share: until interrupted, and anew as processes come and go"},
         {"--interleave",
          "how often a round of its runlists has it (takes CAP_SYS_NICE)",
          "LEVEL",
          "",
          {nvdebug::interleave_words.begin(), nvdebug::interleave_words.end()}},
         {"--preemption",
          "at which points its compute work may be interrupted (takes root)",
          "MODE",
          "",
          {nvdebug::preemption_words.begin(), nvdebug::preemption_words.end()}},
         {"--tpcs", "run on these TPCs, if nvtaskset(1) started it: 0-7,12", "LIST"},
         {"--gpcs", "the same, on all TPCs of these GPCs", "LIST"},
         {"--sms", "the same, on so many SMs, or percent", "N"}});
    const std::string rights = "It takes the rights to trace the process (ptrace): root with "
                               "CAP_SYS_PTRACE, or its own user where kernel.yama.ptrace_scope is "
                               "0. All of it is done, or nothing.";
    using Means = Command::Means;
    return {
        {.object = "task",
         .verb = "list",
         .help = "processes with a GPU context: their TSGs and timeslices",
         .options = selection_options(),
         .columns = joined(
             head_columns(),
             {{"tsgs", "its TSGs in runlists, as RUNLIST:TSG; null: none is, or not known",
               "[string]?"},
              {"engines", "the first engine of each of these runlists; null: not known",
               "[string]?"},
              {"channels", "how many channels it made", "uint"},
              {"timeslice_us",
               "timeslices of its TSGs, each once, in microseconds: as lists have them, or as they "
               "have what the driver was asked for",
               "[number]"},
              {"mps", "it shares a TSG with another process (MPS); null: not known", "bool?"},
              {"share_percent",
               "part of a second that its context was on GR0, with work or without, by the "
               "driver's "
               "record; null: not known",
               "percent?", true, "on_GR0"},
              {"tpcs", "how many TPCs nvtaskset keeps it to; null: all, or not known", "uint?"},
              {"kept",
               "nvtaskset keeps it to them; false: not all of its launches, or it uses a GPU for "
               "which "
               "none were asked; null: no partition, or not known",
               "bool?"}}),
         .data = "processes, the oldest first",
         .means = Means::driver,
         .notes = {"Root sees every process; others see their own, without TSGs and engines."},
         .examples = {{"sudo nvdebugctl task list", "who competes for this GPU"},
                      {"sudo nvdebugctl task list --job 17", "what a Slurm job has of it"}},
         .check = check_selection_options,
         .run = list_tasks},
        {.object = "task",
         .verb = "show",
         .help = "one process: each of its TSGs",
         .arguments = {{"PID", Argument::Kind::text, "number of a process"}},
         .fields = joined(
             fields_with_identity(
                 {{"pid", "number of the process", "uint"},
                  {"user", "its effective user, by name or number; null: not known", "string?"},
                  {"uid", "number of that user; null: not known", "uint?"},
                  {"command", "name of its command, at most 15 bytes; null: it has none",
                   "string?"},
                  {"cgroup", "its cgroup; null: not known", "string?"},
                  {"share_percent",
                   "part of a second that its context was on GR0, with work or without, by the "
                   "driver's "
                   "record; null: not known",
                   "percent?"},
                  {"mps", "it shares a TSG with another process (MPS); null: not known", "bool?"},
                  {"tpcs", "how many TPCs nvtaskset keeps it to; null: all, or not known", "uint?"},
                  {"kept",
                   "nvtaskset keeps it to them; false: not all of its launches, or it uses a GPU "
                   "for "
                   "which "
                   "none were asked; null: no partition, or not known",
                   "bool?"},
                  {"tsgs",
                   "its TSGs",
                   "[object]",
                   {{"runlist", "runlist that holds it; null: none does now, or not known",
                     "uint?"},
                    {"tsg", "id of the TSG; null: no list holds it now, or not known", "uint?"},
                    {"engines", "engines that the runlist serves; null: not known", "[string]?"},
                    {"timeslice_us",
                     "its timeslice in microseconds: as the list has it, or as it has what the "
                     "driver "
                     "was asked for; null: not known",
                     "number?"},
                    {"channels", "how many channels the process made in it", "uint"},
                    {"enabled_channels", "how many of them are enabled; null: not known", "uint?"},
                    {"client", "the driver's name of the process' client", "address"},
                    {"client_tsg", "the client's name of the TSG, no hardware id; null: none",
                     "address"}}}}),
             pod_name_keys()),
         .means = Means::driver,
         .examples = {{"sudo nvdebugctl task show 4711", "what a process has on this GPU"}},
         .check = check_selection,
         .run = show_task,
         .text = print_task},
        {.object = "task",
         .verb = "set",
         .help = "how long, how often and how interruptibly processes run",
         .arguments = {pids},
         .options = set_options,
         .control = true,
         .leasable = true,
         .means = Means::driver,
         .notes =
             {rights,
              "One thing at a time. It is for the TSGs that there are now; of those that share one "
              "(MPS) all are to be named. TPCs are of what the process launches from then on."},
         .examples = {{"sudo nvdebugctl task set 4711 --timeslice 500us", "short turns"},
                      {"sudo nvdebugctl task set 4711 --share 25% --hold",
                       "a quarter of the time, until Ctrl-C"},
                      {"sudo nvdebugctl task set --container 3f2a --timeslice 8ms --for 60",
                       "long turns for a container, for a minute"}},
         .check = check_set,
         .run = set,
         .text = show_control},
        {.object = "task",
         .verb = "pause",
         .help = "keep processes off the GPU, whatever they do; their work stays pending",
         .arguments = {pids},
         .options = selection_options(),
         .control = true,
         .leasable = true,
         .means = Means::driver,
         .notes = {rights, "All channels that they have now are disabled."},
         .examples = {{"sudo nvdebugctl task pause 4711 --for 10", "for ten seconds"}},
         .check = check_control,
         .run = pause,
         .text = show_control},
        {.object = "task",
         .verb = "resume",
         .help = "let processes that were paused go on",
         .arguments = {pids},
         .options = selection_options(),
         .control = true,
         .leasable = true,
         .means = Means::driver,
         .notes = {rights},
         .examples = {{"sudo nvdebugctl task resume 4711", "let it go on"}},
         .check = check_control,
         .run = resume,
         .text = show_control},
        {.object = "task",
         .verb = "preempt",
         .help = "take processes off the engines now; each runs again when it is its turn",
         .arguments = {pids},
         .options = selection_options(),
         .control = true,
         .means = Means::driver,
         .notes = {rights, "Waits until the GPU has done so, one second at most for each TSG."},
         .examples = {{"sudo nvdebugctl task preempt 4711", "take the engines from it, once"}},
         .check = check_selection,
         .run = preempt,
         .text = show_control},
        {.object = "task",
         .verb = "restore",
         .help = "undo what a program that was killed, with its keeper, left changed",
         .arguments = {{"PID", Argument::Kind::text,
                        "number of a process; none: all that were left changed",
                        Argument::Count::any}},
         .columns =
             {{"pid", "number of the process", "uint"},
              {"command", "name of its command, at most 15 bytes; null: it has none", "string?"},
              {"channels", "how many channels were enabled, or disabled, again", "uint"},
              {"tsgs",
               "how many TSGs have their timeslice, interleave level or preemption mode "
               "again",
               "uint"},
              {"restored",
               "all of it is as before; false: the driver refused, and a keeper tries again, "
               "or the process could not be queried",
               "bool"}},
         .data = "processes that were left changed, by number",
         .means = Means::driver,
         .notes =
             {"It takes root. Holds of nvqos and leases are written down in /run/nvdebug before "
              "anything is changed. What a living keeper looks after is left to it.",
              "nvqos does the same when it begins. Exit status 4 if something is still changed."},
         .examples = {{"sudo nvdebugctl task restore", "after kill -9 of nvqos and its keepers"}},
         .check = check_restore,
         .run = restore_tasks},
    };
}

} // namespace nvdebugctl
