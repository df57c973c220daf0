// SPDX-License-Identifier: MIT OR GPL-2.0
#include "summary.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "aligned.hpp"
#include "cli/identity.hpp"
#include "cli/json.hpp"
#include "cli/page.hpp"
#include "cli/text.hpp"

namespace nvdebugctl {

Json summary_rows(const Json &summary) {
    Json rows = Json::array();
    for (const Json &engine : summary["engines"])
        for (const Json &holder : engine["holders"]) {
            Json row = {{"gpu", engine["gpu"]}, {"engine", engine["engine"]}};
            row.update(holder);
            rows.push_back(std::move(row));
        }
    return rows;
}

bool has_together(const Json &rows) {
    return std::ranges::any_of(rows,
                               [](const Json &row) { return !row["together_percent"].is_null(); });
}

namespace {

void show_engine(const Json &engine, Page &page) {
    const auto part = [&](const char *key) {
        return engine[key].is_null() ? std::string("?") : shown_percent(engine[key].get<double>());
    };
    std::string line =
        fmt::format("gpu{} {}: ", engine["gpu"].get<int>(), engine["engine"].get<std::string>());
    if (engine["by"] == "samples")
        line += fmt::format("{} busy, by {} samples", part("held_percent"),
                            engine["samples"].get<std::uint64_t>());
    else
        line += fmt::format(
            "{} held, {} switching ({} switches{}{}), {} unused", part("held_percent"),
            part("switching_percent"), engine["switches"].get<std::uint64_t>(),
            engine["switch_median_us"].is_null()
                ? std::string()
                : fmt::format(", median {}", shown("switch_median_us", engine["switch_median_us"])),
            engine["saving_median_us"].is_null()
                ? std::string()
                : fmt::format("; saving before, median {}",
                              shown("saving_median_us", engine["saving_median_us"])),
            part("nobody_percent"));
    page.line(page.bold(line));
    const std::uint64_t lost =
        engine["lost_switches"].is_null() ? 0 : engine["lost_switches"].get<std::uint64_t>();
    const std::uint64_t missed =
        engine["missed_samples"].is_null() ? 0 : engine["missed_samples"].get<std::uint64_t>();
    if (lost)
        page.line(page.warning(
            fmt::format("  {} records of switches were lost: the driver's buffer was full", lost)));
    if (missed)
        page.line(page.warning(fmt::format(
            "  {} samples were not taken in time: what was there meanwhile is not known", missed)));
    if (!engine["unknown_percent"].is_null() && engine["unknown_percent"].get<double>() > 0.1)
        page.line(fmt::format("  {} of the time is not known", part("unknown_percent")));
}

} // namespace

namespace {

nvdebug::ClockFit fit_of(const Json &clock) {
    const auto ns = [](const Json &us) {
        return static_cast<std::uint64_t>(std::llround(us.get<double>() * 1e3));
    };
    nvdebug::ClockFit fit{clock["readings"].get<std::uint64_t>(), ns(clock["within_us"])};
    if (!clock["drift_us_per_s"].is_null())
        fit.drift_ns_per_s = clock["drift_us_per_s"].get<double>() * 1e3;
    if (!clock["uneven_us"].is_null())
        fit.uneven_ns = ns(clock["uneven_us"]);
    return fit;
}

} // namespace

void show_summary(const Json &summary, Page &page) {
    std::string line = fmt::format("{:.3f} s recorded, {} turns", summary["seconds"].get<double>(),
                                   summary["turns"].get<std::uint64_t>());
    if (!summary["cost_percent"].is_null())
        line += fmt::format("; recording took {:.2f}% of a core",
                            summary["cost_percent"].get<double>());
    if (const auto marks = summary["marks"].get<std::uint64_t>())
        line += fmt::format("; {} of controls", count_of(marks, "mark"));
    page.line(line);
    // A GPU's clock agrees with the machine's to millionths. The model's clock advances with
    // accesses.
    const double seconds = summary["seconds"].get<double>();
    const Json &wall = summary["wall_seconds"];
    if (!wall.is_null() && seconds > 0 && 2 * seconds < wall.get<double>())
        page.line(page.warning(fmt::format(
            "the GPU's clock went {:.3f} s in {:.3f} s: is it a model? All times are by that clock",
            seconds, wall.get<double>())));
    std::size_t idle = 0;
    for (const Json &engine : summary["engines"]) {
        if (engine["holders"].empty() && engine["by"] == "samples" &&
            engine["samples"].get<std::uint64_t>()) {
            idle++;
            continue;
        }
        show_engine(engine, page);
        if (engine["holders"].empty())
            continue;
        // A narrow page loses the last columns first.
        std::vector<std::string> columns = {
            "name",         "share_percent",  "turns",       "timeslice_us", "slice_median_us",
            "slice_p99_us", "away_median_us", "away_p99_us", "slice_min_us", "tsgs"};
        if (has_together(engine["holders"]))
            columns.insert(columns.begin() + 2, "together_percent");
        print_table(engine["holders"], columns, true, page);
    }
    // One GPU alone has nothing to be compared with.
    if (summary["clocks"].size() > 1)
        for (const Json &clock : summary["clocks"])
            page.line(page.dim(sentence_of(clock["gpu"].get<std::uint32_t>(), fit_of(clock))));
    if (!summary["jobs"].empty()) {
        page.line(page.bold("jobs on several GPUs"));
        print_table(summary["jobs"],
                    {"name", "gpus", "together_percent", "starts", "skew_median_us", "skew_p99_us",
                     "skew_max_us"},
                    true, page);
    }
    if (idle)
        page.line(fmt::format("{} more were idle in all samples", count_of(idle, "engine")));
    if (!summary["period_us"].is_null())
        page.line(page.dim(fmt::format(
                      "samples are {} apart: what is shorter may have been missed, and each end is "
                      "wrong by up to half of that",
                      shown("period_us", summary["period_us"]))),
                  0);
}

namespace {

std::vector<Column> holder_columns() {
    return columns_with_identity({
        {"name", "name and pid of the process, else what is known: TSG or channel", "string"},
        {"pid", "number of the process; 0: hidden from this user; null: not known", "uint?", false},
        {"process", "name of its command; null: not known", "string?", false},
        {"cgroup", "its cgroup; null: not known", "string?", false},
        {"tsgs", "its TSGs, as RUNLIST:TSG; empty: not known", "[string]"},
        {"timeslice_us", "their timeslices, each once; empty: not known", "[number]"},
        {"share_percent", "part of the engine's time, without saving_us; null: nothing is known",
         "percent?"},
        {"held_us", "how long it had the engine", "number", false},
        {"saving_us",
         "of that, in which it was stopped and saved, its timeslice being over; 0 as well where "
         "the timeslice is not known",
         "number", false},
        {"turns", "how often", "uint"},
        {"slice_min_us", "shortest whole turn; null: none was seen to begin and to end", "number?"},
        {"slice_median_us", "median of whole turns, to 0.4 %", "number?"},
        {"slice_p99_us", "99 % of whole turns are not longer, to 0.4 %", "number?"},
        {"slice_max_us", "longest whole turn", "number?", false},
        {"away_median_us",
         "median of the time between its turns, in which it waited or had no work; null: it had "
         "one turn",
         "number?"},
        {"away_p99_us", "99 % of these are not longer", "number?"},
        {"away_max_us", "the longest of these", "number?", false},
        {"together_percent",
         "of a process in a job on several GPUs: the part of the job's time on them in which all "
         "ran "
         "it at once; null: it is in none, or not known",
         "percent?", false},
    });
}

} // namespace

std::vector<Column> summary_columns() {
    std::vector<Column> columns = {{"gpu", "index of the GPU", "uint"},
                                   {"engine", "name of the engine", "string"}};
    for (Column &column : holder_columns())
        columns.push_back(std::move(column));
    return columns;
}

std::vector<Field> summary_fields() {
    return {
        {"time", "when it began, or for an interval of top, when it ended; ISO 8601 in UTC",
         "time"},
        {"seconds", "how long it is, by the GPU's clock", "number"},
        {"wall_seconds",
         "how long it is by the machine's clock; null: both were not read at its begin and its end",
         "number?"},
        {"period_us", "between samples, as was asked for; null: there were none", "number?"},
        {"turns", "turns in all", "uint"},
        {"marks", "marks of controls", "uint"},
        {"cost_percent",
         "processor time that recording took once it had begun, of one core; null: not known",
         "number?"},
        {"clocks",
         "the clock of each GPU beside the machine's, by which turns of several GPUs are compared",
         "[object]",
         {{"gpu", "index of the GPU", "uint"},
          {"readings", "moments at which both were read", "uint"},
          {"within_us", "how far apart both were read at most", "number"},
          {"drift_us_per_s",
           "how much the machine's clock gains on it in a second; null: there is one reading",
           "signed?"},
          {"uneven_us",
           "how far it may leave the straight line between two readings; null: there are no three "
           "at even distances, so it is taken to go evenly",
           "number?"},
          {"error_us",
           "bound of the error of times in a trace for Perfetto; null: the drift is not known",
           "number?"}}},
        {"jobs", "jobs on several GPUs: processes of one Slurm step, container or launcher",
         "[object]",
         fields_with_identity(
             {{"name", "name and pid of its first process, and how many processes it has",
               "string"},
              {"gpus", "GPUs on which it had turns", "[uint]"},
              {"processes",
               "its processes",
               "[object]",
               {{"gpu", "index of the GPU", "uint"}, {"pid", "number of the process", "uint"}}},
              {"together_percent",
               "part of its time on its GPUs in which all ran it at once; null: a GPU's clock "
               "cannot "
               "be read",
               "percent?"},
              {"starts", "how often it began on all of its GPUs, by whole turns; null: not known",
               "uint?"},
              {"skew_median_us",
               "how much later it began on the last GPU than on the first one, median; null: there "
               "were no starts",
               "number?"},
              {"skew_p99_us", "99 % of the starts were not further apart", "number?"},
              {"skew_max_us", "the most", "number?"}})},
        {"engines",
         "engines, in the order of their first events",
         "[object]",
         {{"gpu", "index of the GPU", "uint"},
          {"engine", "name of the engine", "string"},
          {"by",
           "'switches': the driver's record; a process has the engine until another comes, also "
           "without work. 'samples': of its state; who was on it while it was busy",
           "switches|samples"},
          {"recorded_us", "how long it was recorded", "number"},
          {"held_percent",
           "part of the time in which a process had it, without saving; null: nothing is known",
           "percent?"},
          {"nobody_percent", "part of the time in which no process had it", "percent?"},
          {"switching_percent",
           "between the turns of two, and saving before; null: not known by samples", "percent?"},
          {"unknown_percent", "part of the recorded time for which the process is not known",
           "percent?"},
          {"switches", "from one turn to the next; null: by samples", "uint?"},
          {"switch_median_us", "median of what a switch took; null: none, or by samples",
           "number?"},
          {"switch_p99_us", "99 % of the switches did not take longer", "number?"},
          {"saving_median_us",
           "median of saving_us of turns that ended with a timeslice; null: none, or by samples",
           "number?"},
          {"lost_switches",
           "records that the driver did not keep since its buffer was full; null: by samples",
           "uint?"},
          {"samples", "that were taken; null: by switches", "uint?"},
          {"missed_samples", "that were not taken in time, or failed; null: by switches", "uint?"},
          {"holders", "the processes that had it, the longest first", "[object]",
           fields_of(holder_columns())}}}};
}

} // namespace nvdebugctl
