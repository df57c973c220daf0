// SPDX-License-Identifier: MIT OR GPL-2.0
#include <cstring>
#include <fmt/format.h>

#include "check.hpp"
#include "forms.hpp"
#include "gpu_switches.hpp"
#include "lib/partition/state.hpp"
#include "lib/stgm/levels.hpp"
#include "lib/stgm/undisturbed.hpp"
#include "perfetto.hpp"
#include "running.hpp"

namespace nvstgm {
namespace {

using stgm::Time;

constexpr nvdebug::base::TimeRule run_times{
    .least = ns_per_s / 1000, .most = 3600 * ns_per_s, .bare = "s"};

/// Returns seconds, as a whole number where possible, because scripts may expect an integer.
Json seconds_of(Time ns) {
    return ns % ns_per_s ? Json(static_cast<double>(ns) / ns_per_s) : Json(ns / ns_per_s);
}

Outcome<void> can_run(const stgm::TaskSet &set, bool gpu, bool mps) {
    if (set.time_unit != "us")
        return fail("a set whose times are ticks cannot be run: 'time_unit' is to be us");
    if (set.tasks.size() > std::min(stgm::TicketLock::slots, stgm::most_levels))
        return fail(fmt::format("{} tasks run together at most", stgm::TicketLock::slots));
    if (const auto allocated = need_allocation(set, stgm::Method::stgm); !allocated)
        return allocated;
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    sched_getaffinity(0, sizeof cpus, &cpus);
    std::size_t users = 0;
    for (const stgm::Task &task : set.tasks) {
        if (*task.core >= static_cast<std::uint32_t>(CPU_COUNT(&cpus)))
            return fail(fmt::format("task '{}' is on core {}, and this process may use {} CPUs",
                                    task.name, *task.core, CPU_COUNT(&cpus)));
        users += task.uses_gpu();
    }
    if (gpu && mps && users > nvtaskset::clients_max)
        return fail(fmt::format(
            "{} tasks use the GPU, and an MPS server takes {}: others would take turns with them",
            users, nvtaskset::clients_max));
    return {};
}

/// Fails if a job takes longer than the longest run, because the ends of such jobs are not seen.
/// @param work has the lengths of the work
Outcome<void> can_end(const stgm::TaskSet &set, const stgm::TaskSet &work) {
    constexpr auto longest = static_cast<Time>(run_times.most / ns_per_us);
    for (std::size_t n = 0; n < set.tasks.size(); n++)
        for (const auto *const segments : {&set.tasks[n].segments, &work.tasks[n].segments}) {
            Time length = 0;
            for (const stgm::Segment &one : *segments)
                for (const Time part :
                     {one.cpu, one.to_device, one.from_device,
                      one.kernel_on(set.tasks[n].sms ? set.tasks[n].sms->size() : 1)})
                    length = stgm::add(length, part);
            if (length > longest)
                return fail(fmt::format("task '{}' takes {} us by itself, and a job of a run takes "
                                        "an hour at most",
                                        set.tasks[n].name, length));
        }
    return {};
}

/// Returns how many TPCs the GPU has, or fails if a task has TPCs beyond. By asking once before the
/// tasks start, it keeps the tasks' nvtaskset from probing the GPU all at the same time.
Answer<std::size_t> have_tpcs(const stgm::TaskSet &set, const Keeper &keeper) {
    if (std::ranges::none_of(set.tasks, &stgm::Task::uses_gpu))
        return 0;
    const auto gpu = keeper.choose_gpu();
    if (!gpu)
        return fail(gpu.error());
    for (const stgm::Task &task : set.tasks)
        if (task.uses_gpu() && task.sms->back() >= gpu->tpcs)
            return fail(fmt::format("task '{}' has TPC {}, and this GPU has 0 to {}", task.name,
                                    task.sms->back(), gpu->tpcs - 1));
    return gpu->tpcs;
}

/// Returns the set for which the work is made: that of `--work`, which may differ in times only.
Answer<stgm::TaskSet> work_of(const Arguments &arguments, const stgm::TaskSet &set) {
    if (!arguments.has("--work"))
        return set;
    const std::string path = arguments.text("--work");
    auto work = read_set(path);
    if (!work)
        return fail(work.error());
    bool same = work->tasks.size() == set.tasks.size();
    for (std::size_t n = 0; same && n < set.tasks.size(); n++)
        same = work->tasks[n].name == set.tasks[n].name &&
               std::ranges::equal(work->tasks[n].segments, set.tasks[n].segments, {},
                                  &stgm::Segment::gpu, &stgm::Segment::gpu);
    if (!same)
        return fail(path + ": it has other tasks or segments than " + arguments.words[0] +
                    ", and may differ in times alone");
    return work;
}

/// Returns the command of each task by `--program`, empty for built-in work.
Outcome<std::vector<std::string>> programs_of(const Arguments &arguments,
                                              const stgm::TaskSet &set) {
    std::vector<std::string> programs(set.tasks.size());
    for (const std::string &one : arguments.all("--program")) {
        const std::size_t equal = one.find('=');
        const auto task = std::ranges::find(set.tasks, one.substr(0, equal), &stgm::Task::name);
        if (equal == one.npos || equal + 1 == one.size())
            return fail("--program takes NAME=COMMAND, not '" + printable(one) + "'");
        if (task == set.tasks.end())
            return fail("--program: there is no task '" + printable(one.substr(0, equal)) + "'");
        programs[static_cast<std::size_t>(task - set.tasks.begin())] = one.substr(equal + 1);
    }
    return programs;
}

Outcome<std::vector<Time>> offsets_of(const Arguments &arguments, const stgm::TaskSet &set) {
    std::vector<Time> offsets(set.tasks.size());
    for (const std::string &one : arguments.all("--offset")) {
        const auto offset = offset_of(one, set);
        if (!offset)
            return fail(offset.error());
        offsets[offset->first] = stgm::multiply(offset->second, ns_per_us);
    }
    return offsets;
}

/// Returns the set with the largest times that were seen, and @p margin percent more.
stgm::TaskSet measured(const stgm::TaskSet &set, const stgm::Memory &memory, Time margin) {
    stgm::TaskSet found = set;
    const auto with_margin = [&](Time ns) {
        return stgm::divide_up(ns * (100 + margin), 100 * ns_per_us);
    };
    for (std::size_t n = 0; n < set.tasks.size(); n++)
        for (std::size_t at = 0; at < set.tasks[n].segments.size(); at++) {
            const stgm::Lengths &seen = memory.steps(n)[at].seen;
            stgm::Segment &segment = found.tasks[n].segments[at];
            segment.cpu = with_margin(seen.cpu);
            segment.to_device = with_margin(seen.to_device);
            segment.from_device = with_margin(seen.from_device);
            if (segment.gpu)
                segment.kernel = {with_margin(seen.kernel)};
        }
    return found;
}

std::vector<Column> run_columns() {
    return {{"name", "task", true},
            {"jobs", "jobs", false, 5},
            {"response", "response"},
            {"bound", "bound"},
            {"ratio", "ratio", false, 6},
            {"deadline", "deadline", false, 7},
            {"misses", "misses"},
            {"overruns", "overruns", false, 2},
            {"stalls", "stalls", false, 1},
            {"/undisturbed/jobs", "undisturbed", false, 3},
            {"/undisturbed/response", "longest", false, 3},
            {"/undisturbed/above", "above", false, 4},
            {"ended", "ended", true}};
}

Time us_of(Time ns) {
    return stgm::divide_up(ns, ns_per_us);
}

Json ratio_of(Time response, const std::optional<Time> &bound) {
    if (!bound || !*bound)
        return {};
    const Time thousandths = response * 1000 / *bound;
    return static_cast<double>(thousandths) / 1000;
}

Json row_of(const stgm::Task &task, const stgm::Progress &progress, const stgm::Undisturbed &good,
            const std::optional<Time> &bound, const std::string &end) {
    const Time response = us_of(progress.response);
    return {{"name", task.name},
            {"jobs", progress.jobs},
            {"response", progress.jobs ? Json(response) : Json()},
            {"bound", bound ? Json(*bound) : Json()},
            {"ratio", progress.jobs ? ratio_of(response, bound) : Json()},
            {"deadline", task.deadline},
            {"misses", progress.misses},
            {"overruns", progress.overruns},
            {"stalls", progress.stalls},
            {"undisturbed",
             {{"jobs", good.jobs},
              {"response", good.jobs ? Json(us_of(good.response)) : Json()},
              {"ratio", good.jobs ? ratio_of(us_of(good.response), bound) : Json()},
              {"above", good.above}}},
            {"ended", end.empty() ? Json() : Json(end)}};
}

/// Prints that SCHED_FIFO was refused, and what this means for the tasks.
void say_of_priorities(int refused, const stgm::Ways &ways, bool own_cpus) {
    if (!refused)
        return;
    const std::string what = fmt::format("SCHED_FIFO is refused ({}; it takes CAP_SYS_NICE or "
                                         "RLIMIT_RTPRIO, and where the kernel has "
                                         "CONFIG_RT_GROUP_SCHED a cgroup with real-time share): "
                                         "any process may keep the tasks from their CPUs, which no "
                                         "bound counts",
                                         std::strerror(refused));
    say(!ways.handed ? what + ", and so may tasks of lower priority"
        : own_cpus ? what + "; tasks hand their cores to each other, each on a CPU of its own, and "
                            "stalls are counted"
                   : what + "; tasks hand their cores to each other");
}

/// The command line of `run`, with the files that it names.
struct RunRequest {
    stgm::TaskSet set;
    stgm::Options analysis;
    Order order; ///< without `ways.handed`, which depends on the machine
    bool mps;
    Time measure_margin; ///< percent
};

/// Reads the command line and its files, and checks all that can be checked without a GPU.
Answer<RunRequest> run_request(const Arguments &arguments) {
    if (const auto form = knows_form_of_trace(arguments); !form)
        return fail(form.error());
    if (const auto form = knows_suffix(arguments, "--measure", {".json"}, set_form); !form)
        return fail(form.error());
    std::vector<std::string> read{arguments.words[0]};
    if (arguments.has("--work"))
        read.push_back(arguments.text("--work"));
    if (const auto other = are_other_files(arguments, {"--output", "--measure"}, std::move(read));
        !other)
        return fail(other.error());
    const auto set = read_set(arguments.words[0]);
    if (!set)
        return fail(set.error());
    const auto options = analysis_of(arguments, *set);
    if (!options)
        return fail(options.error());
    const bool gpu = !arguments.has("--without-gpu"), mps = !arguments.has("--no-mps");
    const auto length = arguments.time_ns("--for", 10 * ns_per_s, run_times);
    const auto margin = number_of(arguments, "--margin", 10, 0, 90);
    const auto stretch = number_of(arguments, "--stretch", 100, 1, 1000);
    const auto above_seen = number_of(arguments, "--measure-margin", 20, 0, 1000);
    if (!length)
        return fail(length.error());
    for (const auto *const one : {&margin, &stretch, &above_seen})
        if (!*one)
            return fail(one->error());
    const auto programs = programs_of(arguments, *set);
    if (!programs)
        return fail(programs.error());
    const auto offsets = offsets_of(arguments, *set);
    if (!offsets)
        return fail(offsets.error());
    const auto work = work_of(arguments, *set);
    if (!work)
        return fail(work.error());
    if (const auto can = can_run(*set, gpu, mps); !can)
        return fail(arguments.words[0] + ": " + can.error());
    if (const auto can = can_end(*set, *work); !can)
        return fail((arguments.has("--work") ? "" : arguments.words[0] + ": ") + can.error());
    for (const char *const file : {"--output", "--measure"})
        if (const auto can = can_write(arguments.text(file, "-")); !can)
            return fail(can.error());
    return RunRequest{.set = *set,
                      .analysis = *options,
                      .order = {.ways = {.busy = options->busy,
                                         .spin_copies = options->spin_copies,
                                         .gpu = gpu,
                                         .managed = !arguments.has("--unmanaged"),
                                         .margin = static_cast<std::uint32_t>(*margin),
                                         .stretch = static_cast<std::uint32_t>(*stretch)},
                                .duration = static_cast<Time>(*length),
                                .offsets = *offsets,
                                .work = *work,
                                .programs = *programs},
                      .mps = mps,
                      .measure_margin = *above_seen};
}

/// How the processes ran.
struct RunEnd {
    bool whole;                     ///< the run was not stopped before its time
    std::vector<GpuTurn> gpu_turns; ///< empty, too, if they were not recorded
};

/// Starts the tasks, lets them run for their time, and records the GPU's switches beside them if
/// the trace is for ui.perfetto.dev.
Answer<RunEnd> run_tasks(const Arguments &arguments, const Order &order, const Keeper &keeper,
                         std::size_t tpcs, Running &running) {
    if (const auto shared = running.share(order); !shared)
        return fail(failed, shared.error());
    if (const auto started = running.start(keeper, tpcs, order.programs); !started)
        return fail(failed, started.error());
    GpuRecording recording;
    const bool records =
        tpcs && arguments.has("--output") && is_perfetto(arguments.text("--output"));
    if (records)
        recording.begin(arguments.text("--nvdebugctl", "nvdebugctl"), keeper.gpu);
    if (const auto began = running.begin(); !began)
        return fail(failed, began.error());
    const bool whole = running.finish();
    const auto turns = records ? recording.end() : Outcome<std::vector<GpuTurn>>();
    if (!turns)
        say("the trace is without the GPU's own switches, which 'nvdebugctl record' reads from "
            "NVIDIA's driver: " +
            turns.error());
    return RunEnd{whole, turns.value_or(std::vector<GpuTurn>())};
}

/// The rows of the table, and their sums.
struct RunReport {
    Json rows = Json::array();
    std::uint64_t misses = 0, overruns = 0, stalls = 0;
    std::uint64_t lost = 0;        ///< events for which there was no room
    std::uint64_t ended = 0;       ///< tasks that ended before their time
    std::uint64_t above = 0;       ///< tasks with a response above the bound
    std::uint64_t unexplained = 0; ///< undisturbed jobs with a response above the bound
    std::string names;             ///< names of the tasks above their bounds
    int refused = 0;               ///< errno of SCHED_FIFO in a task
};

RunReport report_of(const stgm::TaskSet &set, const std::vector<stgm::Bound> &bounds,
                    const Running &running, const stgm::Trace &trace) {
    std::vector<std::optional<Time>> limits;
    for (const stgm::Bound &bound : bounds)
        limits.push_back(bound.response ? std::optional(*bound.response * ns_per_us)
                                        : std::nullopt);
    const auto good = stgm::undisturbed(trace, limits);
    RunReport report;
    for (std::size_t n = 0; n < set.tasks.size(); n++) {
        const stgm::Progress &progress = running.memory().progress[n];
        const Json &row = report.rows.emplace_back(
            row_of(set.tasks[n], progress, good[n], bounds[n].response, running.end_of(n)));
        report.misses += progress.misses;
        report.lost += progress.lost;
        report.overruns += progress.overruns;
        report.stalls += progress.stalls;
        report.unexplained += good[n].above;
        report.ended += !row["ended"].is_null();
        if (row["response"].is_number() && row["bound"].is_number() &&
            row["response"] > row["bound"]) {
            report.names += (report.above ? ", " : "") + printable(set.tasks[n].name);
            report.above++;
        }
        report.refused = report.refused ? report.refused : progress.refused;
    }
    return report;
}

/// Writes the trace and the measured set, if they were asked for.
Answer<void> write_results(const Arguments &arguments, const RunRequest &request,
                           const stgm::Memory &memory, const stgm::Trace &trace,
                           const std::vector<GpuTurn> &gpu_turns) {
    if (arguments.has("--output")) {
        const std::string path = arguments.text("--output");
        const auto text = is_perfetto(path) ? perfetto(request.set, trace, gpu_turns, memory.begin)
                                            : stgm::to_text(trace, request.set);
        if (const auto written = write_file(path, text); !written)
            return written;
    }
    if (!arguments.has("--measure"))
        return {};
    const stgm::TaskSet found = measured(request.set, memory, request.measure_margin);
    return write_file(arguments.text("--measure"), stgm::to_json(found).dump(1) + "\n");
}

/// Returns the answer in the form that was asked for.
/// @param fifo tasks had SCHED_FIFO
std::string run_text(const Arguments &arguments, const RunRequest &request, const RunReport &report,
                     bool whole, bool fifo, bool own_cpus) {
    const stgm::Ways &ways = request.order.ways;
    if (arguments.has("--json"))
        return document("run",
                        {{"analysis", name_of(request.analysis.method)},
                         {"waiting", ways.busy ? "busy" : "suspend"},
                         {"copy_wait", ways.spin_copies || ways.busy ? "spin" : "suspend"},
                         {"time_unit", request.set.time_unit},
                         {"seconds", seconds_of(request.order.duration)},
                         {"whole", whole},
                         {"gpu", ways.gpu},
                         {"mps", ways.gpu && request.mps},
                         {"managed", ways.managed},
                         {"fifo", fifo},
                         {"priorities", ways.handed ? "handed" : "linux"},
                         {"own_cpus", own_cpus},
                         {"margin", ways.margin},
                         {"stretch", ways.stretch},
                         {"above", report.above},
                         {"tasks", report.rows}},
                        "1.2");
    if (arguments.has("--csv"))
        return csv(run_columns(), report.rows);
    return table(run_columns(), report.rows) + "\n" +
           sentence(fmt::format(
               "{} deadlines missed; {} of {} tasks above their bounds{}, {} jobs of them "
               "undisturbed; {} pieces of work longer than in the file, {} stalls{} (times in us)",
               report.misses, report.above, request.set.tasks.size(),
               report.above ? " (" + report.names + ")" : "", report.unexplained, report.overruns,
               report.stalls, report.ended ? "; some tasks ended before their time" : ""));
}

Answer<Exit> run_set(const Arguments &arguments) {
    auto request = run_request(arguments);
    if (!request)
        return fail(request.error());
    const stgm::TaskSet &set = request->set;
    stgm::Ways &ways = request->order.ways;
    const Keeper keeper = Keeper::of(arguments);
    const auto tpcs = ways.gpu ? have_tpcs(set, keeper) : Answer<std::size_t>(0);
    if (!tpcs)
        return fail(tpcs.error().exit, arguments.words[0] + ": " + tpcs.error().sentence +
                                           "; 'run --without-gpu' does without a GPU, by the "
                                           "clock");
    warn_of(request->analysis);
    const std::vector<stgm::Bound> bounds = stgm::analyse(set, request->analysis);

    const std::string priorities = arguments.text("--priorities", "auto");
    int refused = priorities == "handed" ? 0 : try_fifo();
    ways.handed = priorities == "handed" || (priorities == "auto" && refused);
    Running running(set);
    const auto end = run_tasks(arguments, request->order, keeper, *tpcs, running);
    if (!end)
        return fail(end.error());

    const stgm::Trace trace = trace_of(running.memory());
    const RunReport report = report_of(set, bounds, running, trace);
    refused = refused ? refused : report.refused;
    say_of_priorities(refused, ways, running.has_own_cpus());
    if (report.lost)
        say(fmt::format("{} events were too many to be kept: the trace, and the count of "
                        "undisturbed jobs, end before the run does",
                        report.lost));
    if (const auto written =
            write_results(arguments, *request, running.memory(), trace, end->gpu_turns);
        !written)
        return fail(written.error());
    return write(run_text(arguments, *request, report, end->whole, !refused && !ways.handed,
                          running.has_own_cpus()))
        .map([&] { return report.misses || report.ended ? partial : done; });
}

} // namespace

Command run_command() {
    return {
        {"run",
         "runs the set: each task a process, with kernels and copies on the GPU",
         {"SET"},
         std::vector<Option>{
             {"--for", "how long, as 20s or 10m; a number alone is seconds (default: 10)", "TIME"},
             {"--offset",
              "when the task's first job comes (default: 0)",
              "NAME=TIME",
              "",
              {},
              true},
             {"--program",
              "the task's work is a program's (nvdebug/stgm_task.h); for sh",
              "NAME=COMMAND",
              "",
              {},
              true},
             {"--margin", "the work is shorter than in the file by so many percent (default: 10)",
              "PERCENT"},
             {"--stretch", "the work takes so many percent of the file's lengths (default: 100)",
              "PERCENT"},
             {"--work",
              "the work is made for the lengths of this set, and SET's are those it may take",
              "FILE"},
             {"--measure", "writes the set with the largest times of this run, and a margin",
              "FILE"},
             {"--measure-margin", "above the largest time, in percent (default: 20)", "PERCENT"},
             {"--priorities",
              "of SCHED_FIFO, or tasks hand their core to each other",
              "HOW",
              "",
              {"auto", "linux", "handed"}},
             {"--unmanaged", "no locks for copies and kernels, and all TPCs for each task"},
             {"--without-gpu",
              "copies and kernels take their time by the clock, and no GPU is used"},
             {"--nvdebugctl",
              "which nvdebugctl records the GPU's own switches for FILE.pftrace (default: that in "
              "PATH)",
              "PROGRAM"},
             {"--output", "what happened: text, or FILE.pftrace for ui.perfetto.dev", "FILE",
              "-o"}} +
             keeper_options() + analysis_options() + form_options(),
         "Core n is the n-th CPU that nvstgm may use. A task's kernels are kept to its TPCs "
         "('sms') "
         "by nvtaskset.\n"
         "Tasks have SCHED_FIFO where that is permitted. Exit status 0: no deadline was missed, 4: "
         "one was, or a task ended before its time.",
         {{"nvstgm run placed.json --for 20", "do they meet their deadlines on this GPU?"},
          {"nvstgm run placed.json --without-gpu -o run.pftrace",
           "the protocol on the CPU alone, as a picture"},
          {"nvstgm run placed.json --program camera='./camera --fast'",
           "with a program that takes part by the header"}}},
        run_set};
}

} // namespace nvstgm
