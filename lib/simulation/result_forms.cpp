// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lib/base/lines.hpp"
#include "lib/base/printable.hpp"
#include "models.hpp"
#include "result.hpp"

namespace simulation {
namespace {

using Json = nlohmann::ordered_json;
using nvdebug::base::printable;

/// Returns millionths as a number.
double fraction_of(Part part) {
    return static_cast<double>(part) / static_cast<double>(qos::whole);
}

/// Returns a time in ms, to a microsecond.
double ms_of(Ns time) {
    const Ns whole_us = time / qos::us;
    return static_cast<double>(whole_us) / 1000;
}

Json optional_json(const std::optional<std::int64_t> &value, double (*form)(std::int64_t)) {
    return value ? Json(form(*value)) : Json();
}

Json times_json(const Times &times) {
    return {{"n", times.count},
            {"p50", optional_json(times.p50, ms_of)},
            {"p99", optional_json(times.p99, ms_of)}};
}

/// Returns the seconds in which a goal was judged, and the reasons that there are.
Json seconds_json(const JobResult &job) {
    if (job.seconds == 0)
        return {};
    Json why_not = Json::object();
    for (std::size_t n = 0; n < job.why_not.size(); n++)
        if (job.why_not[n] > 0)
            why_not[qos::reasons[n]] = job.why_not[n];
    return {{"n", job.seconds}, {"kept", job.seconds_kept}, {"why_not", std::move(why_not)}};
}

Json engine_json(const EngineResult &engine) {
    return {{"ttft_ms", times_json(engine.to_first)},
            {"alone_ttft_ms", times_json(engine.alone_to_first)},
            {"tpot_ms", times_json(engine.per_token)},
            {"alone_tpot_ms", times_json(engine.alone_per_token)},
            {"gap_ms", times_json(engine.gaps)},
            {"alone_gap_ms", times_json(engine.alone_gaps)},
            {"compared", engine.compared},
            {"attained", engine.attained}};
}

Json job_json(const JobResult &job) {
    Json gpus = Json::array();
    for (const JobResult::OnGpu &one : job.gpus)
        gpus.push_back({{"gpu", one.gpu},
                        {"got", fraction_of(one.got)},
                        {"got_alone", fraction_of(one.got_alone)},
                        {"turns", one.turns}});
    Json json = {{"name", job.name},
                 {"goal", job.goal},
                 {"gang", job.gang},
                 {"gang_why", job.gang_why.empty() ? Json() : Json(job.gang_why)},
                 {"gpus", std::move(gpus)},
                 {"got", fraction_of(job.got)},
                 {"most_in_a_second", optional_json(job.most_in_a_second, fraction_of)},
                 {"per_s", fraction_of(job.per_s)},
                 {"alone_per_s", fraction_of(job.alone_per_s)},
                 {"speed", optional_json(job.speed, fraction_of)},
                 {"request_ms", times_json(job.times)},
                 {"alone_request_ms", times_json(job.alone_times)},
                 {"together", optional_json(job.together, fraction_of)},
                 {"number", optional_json(job.number, job.has_latency ? ms_of : fraction_of)},
                 {"kept", job.kept ? Json(*job.kept) : Json()},
                 {"seconds", seconds_json(job)}};
    if (job.engine)
        json["engine"] = engine_json(*job.engine);
    if (job.got_while_free)
        json["got_while_free"] = fraction_of(*job.got_while_free);
    return json;
}

/// Returns how many columns a text in UTF-8 takes, if each character takes one.
std::size_t width_in_columns(std::string_view text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (c & '\xc0') != '\x80'; }));
}

/// Returns at most @p most columns of a text of others.
std::string cut(const std::string &text, std::size_t most) {
    std::string shown = printable(text);
    if (width_in_columns(shown) <= most)
        return shown;
    while (width_in_columns(shown) >= most) {
        while ((shown.back() & '\xc0') == '\x80')
            shown.pop_back();
        shown.pop_back();
    }
    return shown + "…";
}

std::string percent_text(const std::optional<Part> &part) {
    return part ? fmt::format("{:.1f}%", 100 * fraction_of(*part)) : "-";
}

/// Returns a number with three digits or all before its point.
std::string short_number(double value) {
    return value >= 100  ? fmt::format("{:.0f}", value)
           : value >= 10 ? fmt::format("{:.1f}", value)
                         : fmt::format("{:.2f}", value);
}

constexpr std::size_t widest = 80; ///< columns of the table

using Line = std::array<std::string, 9>;

Line line_of(const JobResult &job) {
    constexpr std::size_t widest_goal = 15;
    const std::string seconds =
        job.seconds ? fmt::format(" {}/{}", job.seconds_kept, job.seconds) : "";
    return {printable(job.name),
            cut(job.goal, widest_goal),
            std::to_string(job.gpus.size()),
            percent_text(job.got),
            short_number(fraction_of(job.per_s)),
            job.speed ? fmt::format("{:.2f}", fraction_of(*job.speed)) : "-",
            job.times.p99 ? short_number(ms_of(*job.times.p99)) : "-",
            percent_text(job.together),
            job.kept ? *job.kept ? "yes" + seconds : "no" + seconds : "-"};
}

/// Names have the columns that the others leave.
std::string lines_text(std::vector<Line> lines) {
    constexpr std::size_t left_columns = 2, least_of_a_name = 4;
    std::array<std::size_t, std::tuple_size_v<Line>> widths{};
    for (const Line &line : lines)
        for (std::size_t n = 0; n < line.size(); n++)
            widths[n] = std::max(widths[n], width_in_columns(line[n]));
    std::size_t others = 0;
    for (std::size_t n = 1; n < widths.size(); n++)
        others += 2 + widths[n];
    widths[0] = std::min(widths[0], std::max(least_of_a_name, widest - std::min(others, widest)));
    for (Line &line : lines)
        line[0] = cut(line[0], widths[0]);
    std::string text;
    for (const Line &line : lines) {
        for (std::size_t n = 0; n < line.size(); n++) {
            const std::string blanks(widths[n] - width_in_columns(line[n]), ' ');
            const bool is_left = n < left_columns;
            text += (n ? "  " : "") + (is_left ? line[n] + blanks : blanks + line[n]);
        }
        text += "\n";
    }
    return text;
}

std::string percentiles_text(const Times &times) {
    return times.p50 ? short_number(ms_of(*times.p50)) + " and " + short_number(ms_of(*times.p99))
                     : "none";
}

/// Returns the lines below the table about engines and the jobs beside them.
std::string engines_text(const Result &result) {
    std::string text;
    for (const JobResult &job : result.jobs) {
        const std::string name = cut(job.name, widest / 4);
        if (job.engine) {
            const EngineResult &one = *job.engine;
            for (const auto &[what, times, alone] :
                 {std::tuple{"TTFT", one.to_first, one.alone_to_first},
                  {"TPOT", one.per_token, one.alone_per_token}})
                text += fmt::format("{}: {} p50 and p99 {} ms, alone {} ms\n", name, what,
                                    percentiles_text(times), percentiles_text(alone));
            text += fmt::format("{}: {} of {} requests within 1.25 of alone\n", name, one.attained,
                                one.compared);
        }
        if (job.got_while_free)
            text += fmt::format("{}: {} of the time in which no engine had a request\n", name,
                                percent_text(job.got_while_free));
    }
    return text;
}

} // namespace

std::string json_of(const Result &result) {
    Json jobs = Json::array(), gpus = Json::array();
    for (const JobResult &job : result.jobs)
        jobs.push_back(job_json(job));
    for (std::size_t n = 0; n < result.busy.size(); n++)
        gpus.push_back({{"gpu", n}, {"busy", fraction_of(result.busy[n])}});
    Json whole = {{"version", 1},
                  {"refused", result.refused ? Json(*result.refused) : Json()},
                  {"jobs", std::move(jobs)},
                  {"gpus", std::move(gpus)},
                  {"requests_per_s", fraction_of(result.requests_per_s)}};
    if (result.model)
        whole["model"] = {{"name", result.model->name}, {"measured", result.model->measured}};
    return whole.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string table_of(const Scenario &scenario, const Result &result) {
    if (result.refused) {
        std::string lines;
        for (const std::string &line :
             nvdebug::base::break_lines("Refused: " + *result.refused, [](std::string_view one) {
                 return width_in_columns(one) <= widest;
             }))
            lines += line + "\n";
        return lines;
    }
    std::string text = scenario.name.empty() ? "" : cut(scenario.name, widest) + "\n";
    std::vector<Line> lines = {
        {"JOB", "GOAL", "GPUS", "GOT", "PER S", "SPEED", "P99 MS", "TOGETHER", "KEPT"}};
    for (const JobResult &job : result.jobs)
        lines.push_back(line_of(job));
    text += lines_text(lines);
    Part busy = 0;
    for (const Part one : result.busy)
        busy += one;
    for (const JobResult &job : result.jobs)
        if (!job.gang_why.empty())
            text += cut(job.name, widest / 4) + ": " + job.gang_why + "\n";
    text += engines_text(result);
    text += fmt::format("GPUs busy {:.1f}% in the mean, {} requests to the driver per s\n",
                        100 * fraction_of(busy) / static_cast<double>(result.busy.size()),
                        short_number(fraction_of(result.requests_per_s)));
    if (result.model)
        text += fmt::format("The model {} was measured on {}\n", result.model->name,
                            result.model->measured);
    return text;
}

} // namespace simulation
