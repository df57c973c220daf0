// SPDX-License-Identifier: MIT OR GPL-2.0
#include "command_line.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "demo_machine.hpp"
#include "gpus.hpp"
#include "lib/base/container_device.hpp"
#include "lib/base/output_file.hpp"
#include "lib/base/pod_names.hpp"
#include "lib/base/printable.hpp"
#include "lib/base/task_name.hpp"
#include "tools/nvqos/serve/request.hpp"
#include "tools/nvqos/serve/socket.hpp"

namespace nvqos {

using nvdebug::base::printable;

namespace {

using nvdebug::cli::Arguments;
using nvdebug::cli::Option;

const std::vector<std::string> goal_forms = {"share:",      "cap:",       "speed:", "latency",
                                             "best-effort", "timeslice:", "ttft:",  "tpot:"};

/// Returns the words that complete the last goal of a list, each behind the goals before it.
std::vector<std::string> goal_candidates(const std::string &typed) {
    const std::size_t comma = typed.rfind(',');
    std::vector<std::string> candidates;
    for (const std::string &goal : goal_forms)
        candidates.push_back(typed.substr(0, comma + 1) + goal);
    return candidates;
}

/// Returns the words that complete the last goal of a tenant, or `gang=…` beside them.
std::vector<std::string> tenant_candidates(const std::string &typed) {
    std::vector<std::string> candidates = goal_candidates(typed);
    for (const char *const gang : {"gang=off", "gang=nodes"})
        candidates.push_back(typed.substr(0, typed.rfind(',') + 1) + gang);
    return candidates;
}

/// Returns the words that complete WHO=GOAL.
std::vector<std::string> word_candidates(const std::string &typed) {
    const std::size_t sign = sign_of(typed);
    if (sign == typed.npos)
        return {"container:", "pod:", "cgroup:", "command:", "all-of:", "job:", "others="};
    const std::string goals = typed.substr(sign + 1);
    std::vector<std::string> candidates =
        typed.starts_with("others=") ? goal_candidates(goals) : tenant_candidates(goals);
    for (std::string &candidate : candidates)
        candidate.insert(0, typed, 0, sign + 1);
    return candidates;
}

Option socket_option(const char *does) {
    return {.name = "--socket",
            .help = fmt::format("{} (default: {})", does, Socket::usual_path),
            .value = "PATH",
            .place = Option::Place::sign};
}

/// Returns the description of a verb that asks a running nvqos.
nvdebug::cli::Verb asking(const char *name, const char *help, const char *notes) {
    return {.name = name,
            .help = help,
            .options = {socket_option("where the nvqos that runs listens"),
                        {"--json", "a JSON document", "", "-j"}},
            .notes = notes,
            .examples = {{fmt::format("sudo nvqos {}", name), "of the nvqos of systemd"}}};
}

nvdebug::cli::Verb simulating() {
    return {
        .name = "simulate",
        .help = "what goals would do, without a GPU",
        .words = {"SCENARIO"},
        .options = {{"--none", "as it is, without goals"},
                    {"--output", "its turns, as a trace for Perfetto (FILE.pftrace)", "FILE", "-o"},
                    {"--json", "one JSON object in place of the table", "", "-j"}},
        .notes = "SCENARIO is a JSON file with GPUs, jobs and their goals (docs/simulate.md), or - "
                 "for standard input. It takes no GPU, no driver and no rights, and the same file "
                 "gives the same output on each machine.\n"
                 "Exit status: 0 if every goal was kept; 1: usage, or the file makes no sense; "
                 "2: refused, as goals cannot be kept; 4: a goal was not kept.",
        .examples = {
            {"nvqos simulate docs/examples/simulate/decode.json", "what each job would get"},
            {"nvqos simulate --none docs/examples/simulate/decode.json", "the same without goals"},
            {"nvqos simulate -o decode.pftrace docs/examples/simulate/decode.json",
             "its turns, for ui.perfetto.dev"}}};
}

nvdebug::cli::Verb advising() {
    return {
        .name = "advise",
        .help = "goals for the running tasks, tried in a simulation of them",
        .options =
            {{"--from",
              "a recording of nvdebugctl (NDJSON) in place of GPUs; -: "
              "standard input",
              "RECORDING"},
             {"--for", "watch so long (default: 10s); a number alone is seconds", "TIME"},
             {"--gpu", "watch only this GPU, or these, as without a verb", "GPU", "-g", {}, true},
             {"--output", "keep the scenario of the tasks, for 'nvqos simulate'", "FILE", "-o"},
             {"--json", "one JSON object in place of the tables", "", "-j"}},
        .notes = "Tasks are watched by their switches, and nothing is changed. What comes out "
                 "is a simulation: why tasks pause is not known to it (docs/advise.md).\n"
                 "Exit status: 0; 1: usage, or no such recording can be made of the file; 2: "
                 "missing rights; 3: never on this machine; 5: failed, or no two tasks had "
                 "turns.",
        .examples = {{"sudo nvqos advise", "of the tasks that run now"},
                     {"nvqos advise --from run.ndjson -o run.json",
                      "of those in a recording, without a GPU"}}};
}

std::vector<Option> options() {
    return {
        {"--file", "goals from a TOML file, which is read again on SIGHUP", "FILE", "-f"},
        {"--gpu",
         "only this GPU, or these: 0,2, a UUID, a PCI address, /dev/nvidia0 (default: all)",
         "GPU",
         "-g",
         {},
         true},
        {"--epoch", "how often turns are divided anew (default: 100ms)", "TIME", "-e"},
        {"--scheme",
         "what becomes of a part that was not used",
         "NAME",
         "-s",
         {std::begin(scheme_names), std::end(scheme_names)}},
        socket_option("keep goals that root's programs ask for there, too"),
        {"--tpcs", "divide TPCs, too, where a speed is kept by launches"},
        {.name = "--cdi",
         .help = "write that device's file; containers with it have the goal",
         .value = "GOAL",
         .candidates = tenant_candidates},
        {"--cdi-folder",
         fmt::format("there (default: {}, until the next boot; /etc/cdi stays)",
                     nvdebug::base::device_folder),
         "FOLDER"},
        {.name = "--hold-container",
         .help = "what the file has runtimes run: asks the nvqos at --socket",
         .value = "GOAL",
         .candidates = tenant_candidates},
        {"--tenant", "with --cdi or --hold-container: the tenant that several containers join",
         "NAME"},
        {"--demo", "show goals live on a simulated GPU, without a GPU; WHO=GOAL is optional"},
        {"--for", "end after that time, as 90s; a number alone is seconds", "TIME"},
        {"--interval", "how often the table is shown; a number alone is seconds (default: 1s)",
         "TIME", "-i"},
        {"--dry-run", "print what would be kept or refused, and change nothing"},
        {"--metrics", "a file for Prometheus, replaced each second, gone at the end", "FILE"},
        {"--pod-names",
         "folders whose entries have names of pods, as kubelet writes them (default: "
         "/var/log/containers:/var/log/pods)",
         "FOLDER[:FOLDER]"},
        {"--decisions", "a file for bug reports and tests: turns, and what was decided", "FILE"},
        {"--json", "a line of JSON for each epoch of each GPU", "", "-j"},
        {"--quiet", "print nothing but errors", "", "-q"},
    };
}

} // namespace

const nvdebug::cli::Program &program() {
    static const nvdebug::cli::Program all{
        .name = "nvqos",
        .version = NVQOS_VERSION,
        .help = "Keep goals for tasks that share a GPU, until it ends; then all is as before.",
        .verbs =
            {{
                 .name = "",
                 .help = "",
                 .words = {"WHO=GOAL[,GOAL]..."},
                 .options = options(),
                 .examples =
                     {{"sudo nvqos command:serve=latency,cap:60%",
                       "requests of a service are served before all others', up to 60 % of a "
                       "second"},
                      {"sudo nvqos container:3f2a=share:30% job:17=cap:20%",
                       "a part for one tenant, and an end for another"},
                      {"nvqos --demo", "the table, live on a simulated GPU: no GPU, no root"},
                      {"sudo nvqos --socket", "goals that Slurm's plugin and the like ask for"},
                      {"sudo nvqos --cdi share:30%",
                       "a device for containers: nvdebug.io/qos=share-30"}},
                 .more = nvdebug::cli::Verb::More::any,
                 .before =
                     "  WHO   PID, container:ID, pod:UID, cgroup:PATH, command:NAME, all-of:PID, "
                     "job:ID, or others\n"
                     "  GOAL  share:N%  at least so much of the time, while it has work\n"
                     "        speed:N%  at least so much of its speed alone, by GPU time, or by "
                     "launches at an MPS server\n"
                     "        cap:N%    in no second more; also beside another goal\n"
                     "        latency[:TIME]  served first; in TIME 99 of 100 requests are to "
                     "end, which is seen of tasks that nvtaskset started\n"
                     "        ttft:TIME[@N], tpot:TIME[@N]  served first; N of 100 requests "
                     "(99) are to have their first token in TIME, and TIME for each later one; "
                     "seen of engines that mark their requests\n"
                     "        best-effort[:WEIGHT]  what is left (default)\n"
                     "        timeslice:TIME  turns of this length, as 500us\n"
                     "        gang=off  beside a goal: its tasks on several GPUs do not wait for "
                     "each other\n"
                     "        gang=nodes  beside a goal: it has tasks on other nodes, too, and "
                     "the same windows as there, by the clock",
                 .candidates = word_candidates,
             },
             asking("status",
                    "whether the goals that a running nvqos keeps were kept in the last "
                    "second, and what each tenant got",
                    "One row for each tenant on each GPU, as in the table of nvqos itself.\n"
                    "Exit status: 0 if all goals were kept; 4: a goal was not kept or cannot be "
                    "seen, or a GPU is left out; 5: no nvqos answers."),
             asking("list",
                    "the tenants of a running nvqos: goals, processes, holders, and what each "
                    "got since it is held",
                    "One row for each tenant, whether its goal is kept or not.\n"
                    "Exit status: 0; 5: no nvqos answers."),
             simulating(),
             advising()},
        .exit_status = "Exit status: 0; 1: usage; 2: refused, as goals cannot be kept; 3: never on "
                       "this machine; 4: a goal was not kept or not seen, or a GPU left out; 5: "
                       "failed, may work later.",
        .manual = "nvqos(1)"};
    return all;
}

namespace {

/// Reads the time of an option that was given into @p to, which stays as it is otherwise.
Outcome<void> take_time(const Arguments &arguments, const std::string &option,
                        const nvdebug::base::TimeRule &rule, qos::Ns &to) {
    const auto time = arguments.time_ns(option, static_cast<std::uint64_t>(to), rule);
    if (!time)
        return fail(bad_usage, time.error());
    to = static_cast<qos::Ns>(*time);
    return {};
}

Outcome<void> take_times(const Arguments &arguments, Invocation &invocation) {
    constexpr nvdebug::base::TimeRule epochs{.least = qos::ms, .most = longest_time},
        lengths{.least = qos::ms, .most = longest_time, .bare = "s"},
        intervals{.least = 100 * qos::ms, .most = longest_time, .bare = "s"};
    qos::Ns length = 0;
    if (auto taken = take_time(arguments, "--epoch", epochs, invocation.typed.settings.epoch);
        !taken)
        return taken;
    if (auto taken = take_time(arguments, "--for", lengths, length); !taken)
        return taken;
    if (arguments.has("--for"))
        invocation.length = length;
    return take_time(arguments, "--interval", intervals, invocation.interval);
}

/// Reads the goal of --cdi or --hold-container.
Outcome<void> take_container(const Arguments &arguments, Invocation &invocation) {
    const bool writes = arguments.has("--cdi"), holds = arguments.has("--hold-container");
    if (writes && holds)
        return fail(bad_usage, "--cdi and --hold-container take one goal for all that is in the "
                               "container, as share:30%,cap:50%; give one of them once");
    if (!writes && !holds)
        return {};
    const std::string name = writes ? "--cdi" : "--hold-container";
    invocation.container.goal = arguments.text(name);
    const auto gang = take_gang(invocation.container.goal);
    if (!gang)
        return fail(bad_usage, name + ": " + gang.error().sentence);
    invocation.container.gang = gang->value_or(Gang::on);
    if (auto fits = parse_goal(invocation.container.goal).and_then([&](const qos::Goal &goal) {
            return check_gang(invocation.container.gang, goal);
        });
        !fits)
        return fail(bad_usage, name + ": " + fits.error().sentence);
    const std::string &tenant = invocation.container.tenant = arguments.text("--tenant");
    if (arguments.has("--tenant") && !is_tenant_name(tenant))
        return fail(bad_usage, "--tenant: a name has 1 to 128 of A-Z a-z 0-9 . _ : / -, as "
                               "claim:7f3a");
    const bool has_nodes = invocation.container.gang == Gang::nodes;
    if (has_nodes && tenant.empty())
        return fail(bad_usage, name + ": gang=nodes needs --tenant NAME: the job's name, which is "
                                      "the same on all of its nodes");
    if ((writes || has_nodes) && tenant.ends_with(':'))
        return fail(bad_usage, fmt::format("--tenant: '{}' ends with a colon, behind which each "
                                           "container's id comes; take a name for all of them",
                                           tenant));
    invocation.what = writes ? Invocation::What::write_device : Invocation::What::hold_container;
    return {};
}

/// Fails if a file is written that is read, or written by another option.
Outcome<void> check_files(const Arguments &arguments) {
    constexpr std::array files{"--metrics", "--decisions", "--file"};
    for (std::size_t n = 0; n + 1 < files.size(); n++)
        for (std::size_t other = n + 1; other < files.size(); other++)
            if (arguments.has(files[n]) && arguments.has(files[other]))
                if (const auto why = nvdebug::base::why_not_write(
                        files[n], arguments.text(files[n]), arguments.text(files[other])))
                    return fail(bad_usage, *why);
    return {};
}

Outcome<void> take(const Arguments &arguments, Invocation &invocation) {
    if (auto checked = check_files(arguments); !checked)
        return checked;
    for (const std::string &names : arguments.all("--gpu"))
        if (auto added = add_gpus(names, invocation.typed.gpus); !added)
            return fail(bad_usage, "--gpu: " + added.error().sentence);
    if (arguments.has("--scheme")) {
        invocation.has_scheme = true;
        invocation.typed.settings.scheme = *parse_scheme(arguments.text("--scheme"));
    }
    invocation.has_epoch = arguments.has("--epoch");
    if (auto taken = take_times(arguments, invocation); !taken)
        return taken;
    if (arguments.has("--file"))
        invocation.file = arguments.text("--file");
    if (arguments.has("--metrics"))
        invocation.metrics = arguments.text("--metrics");
    auto folders = nvdebug::base::read_pod_folders(
        arguments.text("--pod-names", nvdebug::base::usual_pod_folders));
    if (!folders)
        return fail(bad_usage, "--pod-names: " + folders.error());
    invocation.pod_folders = std::move(*folders);
    if (arguments.has("--decisions"))
        invocation.decisions = arguments.text("--decisions");
    if (arguments.has("--socket")) {
        const std::string path = arguments.text("--socket");
        invocation.socket = path.empty() ? Socket::usual_path : path;
    }
    invocation.cdi_folder = arguments.text("--cdi-folder", invocation.cdi_folder);
    invocation.typed.tpcs = arguments.has("--tpcs");
    invocation.dry_run = arguments.has("--dry-run");
    invocation.json = arguments.has("--json");
    invocation.quiet = arguments.has("--quiet");
    return take_container(arguments, invocation);
}

/// Notes at goals that marks judge that there will be none.
Goals with_notes(Goals goals, const Invocation &invocation) {
    if (!invocation.socket && !invocation.dry_run)
        for (Tenant &tenant : goals.tenants)
            if (tenant.goal.is_marked())
                tenant.note = printable(tenant.name) +
                              ": ttft and tpot are judged by marks of the engine, which are taken "
                              "with --socket alone";
    return goals;
}

} // namespace

Outcome<Goals> goals_of(const Invocation &invocation) {
    Goals goals = invocation.typed;
    if (!invocation.file)
        return with_notes(std::move(goals), invocation);
    auto read = read_goals(*invocation.file);
    if (!read)
        return read;
    // Options on the command line override the file.
    if (!invocation.has_epoch)
        goals.settings.epoch = read->settings.epoch;
    if (!invocation.has_scheme)
        goals.settings.scheme = read->settings.scheme;
    if (goals.gpus.empty())
        goals.gpus = read->gpus;
    goals.tpcs = goals.tpcs || read->tpcs;
    if (text_of(goals.others) == text_of(qos::Goal()))
        goals.others = read->others;
    std::ranges::move(read->tenants, std::back_inserter(goals.tenants));
    if (!goals.any() && !invocation.socket)
        return fail(bad_usage, printable(*invocation.file) +
                                   " has no goal: neither a [[tenant]] nor others = \"cap:20%\"");
    return with_notes(std::move(goals), invocation);
}

namespace {

/// Fails if an option makes no sense with --cdi or --hold-container.
Outcome<Invocation> finish_container(Invocation invocation, const Arguments &arguments) {
    const bool writes = invocation.what == Invocation::What::write_device;
    const std::string own = writes ? "--cdi" : "--hold-container";
    for (const auto &[name, values] : arguments.options)
        if (name != own && name != "--gpu" && name != "--socket" &&
            (name != "--cdi-folder" || !writes) && name != "--tenant")
            return fail(bad_usage, name + " has no effect with " + own);
    if (!arguments.words.empty())
        return fail(bad_usage, own + " takes a goal, and no WHO=GOAL: the tenant is the container "
                                     "that has the device");
    invocation.container.gpus = invocation.typed.gpus;
    invocation.container.socket = invocation.socket.value_or(Socket::usual_path);
    if (!invocation.container.socket.starts_with('/'))
        return fail(bad_usage, "--socket takes a path from the root on with " + own +
                                   ", since runtimes have folders of their own");
    return invocation;
}

Failure no_goal() {
    return {bad_usage, "no goal is named: write command:serve=latency, others=cap:20%, "
                       "--file FILE or --socket; 'nvqos --demo' shows an example without a GPU, "
                       "and 'nvqos --help' says more"};
}

/// Checks the options of a demo, which has no GPU, no driver and no file.
Outcome<Invocation> finish_demo(Invocation invocation, const Arguments &arguments) {
    const auto known = {"--demo", "--for", "--interval", "--epoch", "--scheme", "--json"};
    for (const auto &[name, values] : arguments.options)
        if (std::ranges::find(known, name) == known.end())
            return fail(bad_usage, name + " has no effect with --demo, which uses no GPU");
    if (arguments.words.empty())
        for (const char *const word : demo_goals)
            if (auto added = add_word(word, invocation.typed); !added)
                return tl::unexpected(added.error());
    if (!invocation.typed.any())
        return tl::unexpected(no_goal());
    invocation.what = Invocation::What::demo;
    invocation.goals = invocation.typed;
    return invocation;
}

} // namespace

Outcome<Invocation> read(const Arguments &arguments) {
    Invocation invocation;
    for (const std::string &word : arguments.words)
        if (auto added = add_word(word, invocation.typed); !added)
            return tl::unexpected(added.error());
    // A service reads its file before other units have made their cgroups, so a cgroup may be
    // missing.
    for (const Tenant &tenant : invocation.typed.tenants)
        if (const auto &cgroup = tenant.who.cgroup;
            cgroup && nvdebug::base::is_cgroup(*cgroup) == false)
            return fail(bad_usage,
                        fmt::format("{}: there is no cgroup {} here; 'systemd-cgls' shows those "
                                    "that there are, and with --file one may come later",
                                    printable(tenant.name), printable(*cgroup)));
    if (auto taken = take(arguments, invocation); !taken)
        return tl::unexpected(taken.error());
    if (invocation.what != Invocation::What::run)
        return finish_container(std::move(invocation), arguments);
    if (arguments.has("--demo"))
        return finish_demo(std::move(invocation), arguments);
    if (arguments.has("--cdi-folder"))
        return fail(bad_usage, "--cdi-folder is where --cdi writes; give the goal with --cdi");
    if (arguments.has("--tenant"))
        return fail(bad_usage, "--tenant has no effect without --cdi or --hold-container");
    if (invocation.json && invocation.quiet)
        return fail(bad_usage, "--json and --quiet exclude each other");
    if (invocation.dry_run && invocation.socket)
        return fail(bad_usage, "--dry-run and --socket exclude each other");
    if (invocation.dry_run && invocation.decisions)
        return fail(bad_usage, "--dry-run and --decisions exclude each other");
    if (!invocation.file && !invocation.socket && !invocation.typed.any())
        return tl::unexpected(no_goal());
    auto goals = goals_of(invocation);
    if (!goals)
        return tl::unexpected(goals.error());
    invocation.goals = std::move(*goals);
    return invocation;
}

} // namespace nvqos
