// SPDX-License-Identifier: MIT OR GPL-2.0
#include "lib/stgm/allocate.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "check.hpp"

namespace nvstgm {
namespace {

/// A partition of MPS has whole chunks of this many SMs; before compute capability 9.0, of fewer.
constexpr std::size_t chunk_sms = 8, chunk_sms_before_9 = 4;
constexpr std::size_t sms_of_tpc = 2;

std::size_t divide_up(std::size_t a, std::size_t b) {
    return (a + b - 1) / b;
}

bool meet(const std::vector<std::uint32_t> &one, const std::vector<std::uint32_t> &other) {
    return std::ranges::find_first_of(one, other) != one.end();
}

/// Returns the commands for a partition of MPS for each set of SMs. Partitions share no SMs, so
/// there are none if two sets overlap.
std::string partitions(const stgm::TaskSet &set) {
    std::map<std::vector<std::uint32_t>, std::string> names;
    for (const stgm::Task &task : set.tasks)
        if (task.uses_gpu()) {
            std::string &text = names[*task.sms];
            text += (text.empty() ? "" : ", ") + printable(task.name);
        }
    std::string text;
    std::size_t chunks = 0;
    for (const auto &[sms, tasks] : names) {
        for (const auto &[other, unused] : names)
            if (sms != other && meet(sms, other))
                return "  none: some tasks share a part of their SMs; '--algorithm disjoint' "
                       "avoids that\n";
        const std::size_t count = divide_up(sms_of_tpc * sms.size(), chunk_sms);
        chunks += count;
        text += fmt::format("  sm_partition add GPU {}  # {}; {} before compute capability 9.0\n",
                            count, tasks, divide_up(sms_of_tpc * sms.size(), chunk_sms_before_9));
    }
    if (const std::size_t all = sms_of_tpc * set.sms / chunk_sms; chunks > all)
        text += fmt::format("  {} chunks of {} SMs, of which {} SMs have {}: too many\n", chunks,
                            chunk_sms, sms_of_tpc * set.sms, all);
    return text;
}

/// Returns the commands that make the split. An "SM" of the set is a TPC, which has two SMs.
std::string commands(const stgm::TaskSet &set, int descriptor) {
    std::string masks, percents, contexts;
    for (const stgm::Task &task : set.tasks) {
        if (!task.uses_gpu())
            continue;
        const std::size_t count = task.sms->size(), sms = sms_of_tpc * count;
        const std::string name = printable(task.name);
        masks += fmt::format("  taskset -c {} nvtaskset -t {} COMMAND  # {}\n", *task.core,
                             list_of(*task.sms), name);
        percents += fmt::format("  CUDA_MPS_ACTIVE_THREAD_PERCENTAGE={} COMMAND  # {}\n",
                                divide_up(100 * count, set.sms), name);
        // cuDevSmResourceSplitByCount() grants multiples of 8 SMs from 9.0 on, and at least 4 SMs
        // on 8.x.
        contexts +=
            fmt::format("  {} SMs; {} of them on compute capability 8.x, {} from 9.0 on  # {}\n",
                        sms, std::max<std::size_t>(sms, 4), 8 * divide_up(sms, 8), name);
    }
    if (masks.empty())
        return "";
    const auto heading = [&](const std::string &text) { return sentence(text, descriptor); };
    return "\n" + heading("With nvtaskset, one \"SM\" of the set being a TPC:") + masks +
           heading("With MPS's static partitions (nvidia-cuda-mps-control -S; "
                   "CUDA_MPS_SM_PARTITION names a task's), in chunks:") +
           partitions(set) +
           heading("With MPS alone, which bounds how many SMs, and not which ones (tasks may meet "
                   "on some):") +
           percents + heading("With green contexts:") + contexts;
}

void add_places(Json &rows, const stgm::Allocation &allocation) {
    for (std::size_t n = 0; n < rows.size(); n++) {
        const stgm::Task &task = allocation.set.tasks[n];
        rows[n]["core"] = allocation.found ? Json(*task.core) : Json();
        rows[n]["sms"] = allocation.found ? Json(*task.sms) : Json();
        if (!allocation.found)
            rows[n]["response"] = rows[n]["slack"] = nullptr;
    }
}

Answer<void> print(const Arguments &arguments, const stgm::Allocation &allocation,
                   const stgm::Options &options, stgm::Algorithm algorithm) {
    Json rows = rows_of(allocation.set, allocation.bounds, options.method);
    add_places(rows, allocation);
    if (arguments.has("--output") && allocation.found) {
        const auto written =
            write_file(arguments.text("--output"), stgm::to_json(allocation.set).dump(1) + "\n");
        if (!written)
            return written;
    }
    if (arguments.has("--json")) {
        Json data = data_of(allocation.set, options, allocation.found, rows);
        data["algorithm"] = algorithm == stgm::Algorithm::paper      ? "paper"
                            : algorithm == stgm::Algorithm::disjoint ? "disjoint"
                                                                     : "mended";
        return write(document("allocate", std::move(data)));
    }
    std::vector<Column> columns = task_columns();
    columns.insert(columns.begin() + 1, {{"core", "core", false, 7}, {"sms", "SMs", true, 7}});
    if (arguments.has("--csv"))
        return write(csv(columns, rows));
    if (!allocation.found)
        return {};
    for (std::size_t n = 0; n < rows.size(); n++)
        rows[n]["sms"] = list_of(*allocation.set.tasks[n].sms);
    const int descriptor = arguments.has("--output") ? STDOUT_FILENO : STDERR_FILENO;
    const std::string text =
        table(columns, rows, descriptor) + "\n" +
        sentence(verdict_on(allocation.set, allocation.bounds, options.method), descriptor) +
        commands(allocation.set, descriptor);
    if (arguments.has("--output"))
        return write(text);
    // The commands go to stderr, because stdout has the set, for a file or for 'check -'.
    std::fputs(text.c_str(), stderr);
    return write(stgm::to_json(allocation.set).dump(1) + "\n");
}

/// A need of the machine: how many cores and SMs are in use, on average.
struct Need {
    double cores = 0, sms = 0;
};

/// Returns the least need of a task over all placements.
Need need_of(const stgm::Task &task, std::uint32_t sms, const stgm::Options &options) {
    Need need;
    const auto period = static_cast<double>(task.period);
    for (const stgm::Segment &segment : task.segments) {
        need.cores += static_cast<double>(segment.cpu) / period;
        if (!segment.gpu)
            continue;
        const auto kernel = static_cast<double>(segment.kernel_on(std::max<std::size_t>(sms, 1)));
        const auto copies =
            static_cast<double>(segment.to_device) + static_cast<double>(segment.from_device);
        if (options.busy)
            need.cores += (kernel + copies) / period;
        double least = static_cast<double>(segment.kernel_on(1));
        for (std::size_t n = 2; n <= sms; n++)
            least =
                std::min(least, static_cast<double>(n) * static_cast<double>(segment.kernel_on(n)));
        need.sms += least / period;
    }
    return need;
}

/// Returns the length of a job that has all SMs and never waits.
stgm::Time alone(const stgm::Task &task, std::uint32_t sms) {
    stgm::Time length = 0;
    for (const stgm::Segment &segment : task.segments)
        length = stgm::add(
            length,
            stgm::add(segment.cpu, stgm::add(segment.kernel_on(std::max<std::size_t>(sms, 1)),
                                             stgm::add(segment.to_device, segment.from_device))));
    return length;
}

/// Returns why there is no allocation: a need that is above the machine, if there is one, or else
/// how much of the machine is needed.
std::string why_none(const stgm::TaskSet &set, const stgm::Options &options) {
    Need all;
    for (const stgm::Task &task : set.tasks) {
        if (const stgm::Time length = alone(task, set.sms); length > task.deadline)
            return fmt::format("task '{0}' takes {1} {3} by itself, and its deadline is {2} {3}",
                               printable(task.name), length, task.deadline, unit_of(set));
        const Need need = need_of(task, set.sms, options);
        all.cores += need.cores;
        all.sms += need.sms;
    }
    // The text has enough digits to show which of the two numbers is larger.
    const auto number = [](double value, std::uint32_t there) {
        std::string text;
        for (int digits = 2; digits <= 17; digits++) {
            text = fmt::format("{:.{}g}", value, digits);
            if ((std::stod(text) > there) == (value > there) &&
                (std::stod(text) == there) == (value == there))
                break;
        }
        return text;
    };
    if (all.cores > set.cores)
        return fmt::format("the tasks need {} cores, and there are {}",
                           number(all.cores, set.cores), set.cores);
    if (all.sms > set.sms)
        return fmt::format("the tasks need {} SMs all the time, and there are {}",
                           number(all.sms, set.sms), set.sms);
    return fmt::format("the tasks need {} of {} cores and {} of {} SMs, and wait for each other "
                       "besides",
                       number(all.cores, set.cores), set.cores, number(all.sms, set.sms), set.sms);
}

Answer<Exit> run_allocate(const Arguments &arguments) {
    if (const auto form = knows_suffix(arguments, "--output", {".json"}, set_form); !form)
        return fail(form.error());
    if (const auto other = are_other_files(arguments, {"--output"}, {arguments.words[0]}); !other)
        return fail(other.error());
    const auto set = read_set(arguments.words[0]);
    if (!set)
        return fail(set.error());
    const auto options = analysis_of(arguments, *set);
    if (!options)
        return fail(options.error());
    const std::string named = arguments.text("--algorithm", "mended");
    const stgm::Algorithm algorithm = named == "paper"      ? stgm::Algorithm::paper
                                      : named == "disjoint" ? stgm::Algorithm::disjoint
                                                            : stgm::Algorithm::mended;
    warn_of(*options);
    const stgm::Allocation allocation = stgm::allocate(*set, *options, algorithm);
    if (allocation.refused)
        say(allocation.found ? "paper: line 16 tests each new task alone, and 'check' refuses this "
                               "allocation by the same analysis"
                             : "paper: the algorithm as printed accepts an allocation that the "
                               "analysis refuses: line 16 tests "
                               "each new task alone");
    if (!allocation.found)
        say("no allocation was found that " + name_of(options->method) +
            " accepts: " + why_none(*set, *options));
    return print(arguments, allocation, *options, algorithm).map([&] {
        return allocation.found ? done : refused;
    });
}

} // namespace

Command allocate_command() {
    return {
        {"allocate",
         "finds cores and SMs at which every deadline is met",
         {"SET"},
         std::vector<Option>{
             {"--algorithm",
              "the paper's Algorithm 1 mended, as printed, or sets of SMs disjoint or equal",
              "NAME",
              "",
              {"mended", "paper", "disjoint"}},
             {"--output", "write the set here, and the table to stdout", "FILE", "-o"}} +
             analysis_options() + form_options(),
         "Writes the set with 'core' and 'sms' of each task to stdout, those it had before are not "
         "kept; the table\n"
         "and the same split as commands go to stderr. What is found was checked as 'check' does.\n"
         "Exit status 0: found, 2: not found.",
         {{"nvstgm allocate robot.json >placed.json", "find an allocation"},
          {"nvstgm allocate robot.json --algorithm disjoint -o placed.json",
           "one without SMs shared in part"}}},
        run_allocate};
}

} // namespace nvstgm
