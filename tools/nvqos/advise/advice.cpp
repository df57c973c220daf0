// SPDX-License-Identifier: MIT OR GPL-2.0
#include "advice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "lib/base/lines.hpp"
#include "lib/base/printable.hpp"
#include "lib/base/quantity.hpp"
#include "lib/cli/fitted_table.hpp"
#include "lib/simulation/models.hpp"
#include "tools/nvqos/goals.hpp"

namespace nvqos {
namespace {

using AdviceJson = nlohmann::ordered_json;
using nvdebug::base::printable;
using nvdebug::base::short_time;
using nvdebug::cli::Column;
using nvdebug::cli::Row;
using nvdebug::cli::Table;

constexpr std::size_t advice_columns = 80;

double fraction_in(qos::Part part) {
    return static_cast<double>(part) / static_cast<double>(qos::whole);
}

std::string percent_in_table(qos::Part part) {
    return fmt::format("{:.1f}%", 100 * fraction_in(part));
}

std::string time_in_table(std::optional<qos::Ns> time) {
    return time ? short_time(*time, " ") : "-";
}

qos::Part alone_of(const simulation::JobResult &job) {
    qos::Part sum = 0;
    for (const auto &gpu : job.gpus)
        sum += gpu.got_alone;
    return sum / static_cast<qos::Part>(job.gpus.size());
}

std::string paragraph(const std::string &text) {
    std::string lines;
    for (const std::string &line : nvdebug::base::break_lines(text, advice_columns))
        lines += line + "\n";
    return lines;
}

std::string lines_of(const Table &table) {
    return fmt::format("{}\n", fmt::join(table.lines, "\n"));
}

/// Returns the limits of the advice, in full sentences.
std::string what_is_not_known(const Advice &advice) {
    std::string text =
        "This is a simulation. It does not know why tasks pause, and takes their pauses to be as "
        "long with other goals. A task that was alone on a GPU for a while counts as busy then. "
        "Clients of an MPS server are one task. Caches, memory and clocks are not simulated.";
    for (const simulation::Estimate &one : advice.model.estimates)
        if (one.bounded > 0)
            return text + " A pause with '<' is known only to be shorter than the other tasks' "
                          "turns, and half of that is simulated.";
    return text;
}

/// The chip of the H100 and the H200, where the simulation's constants were measured.
constexpr std::string_view measured_chip = "GH100";

/// Returns the card whose constants are simulated.
std::string_view card_of(const Advice &advice) {
    const simulation::GpuModel *const model = advice.model.scenario.gpus.model;
    return model ? model->card : "H100";
}

/// Returns the notes of the sighting, and a note for each doubt about the simulated parts.
std::vector<std::string> notes_of(const Advice &advice) {
    constexpr qos::Part worth_a_note = 10 * qos::point, far = 3 * qos::point;
    const simulation::Sighting &sighting = advice.sighting;
    std::vector<std::string> notes = sighting.notes;
    for (std::size_t n = 0; n < sighting.cards.size(); n++) {
        const auto &[chip, product] = sighting.cards[n];
        const simulation::GpuModel *const own = simulation::model_of_product(product);
        if (own ? own->card == card_of(advice) : product.empty() && chip == measured_chip)
            continue;
        const std::string &name = product.empty() ? chip : product;
        notes.push_back(fmt::format("gpu{} is {}{}: how long a resumed turn and a request to the "
                                    "driver take is that of an {}",
                                    sighting.seen.gpus[n].index,
                                    name.empty() ? "of an unknown chip" : printable(name),
                                    own ? "" : ", of which nothing was measured", card_of(advice)));
    }
    for (const simulation::Estimate &one : advice.model.estimates)
        if (one.unasked > worth_a_note)
            notes.push_back(fmt::format(
                "{} had gpu{} for {} of the time while no other task wanted it: whether it had "
                "work then does not show, and it counts as work",
                printable(sighting.seen.tasks[one.task]), one.gpu, percent_in_table(one.unasked)));
    if (advice.model.worst() > far)
        notes.push_back(fmt::format("the simulation is up to {:.1f} points from what was seen, so "
                                    "that the proposals are less sure",
                                    100 * fraction_in(advice.model.worst())));
    return notes;
}

Table tasks_table(const Advice &advice) {
    static constexpr Column columns[] = {
        {"TASK", true, 0},   {"GPU", false, 0},    {"HAD", false, 0},      {"SIMULATED", false, 0},
        {"WORKS", false, 0}, {"PAUSES", false, 0}, {"TIMESLICE", false, 1}};
    std::vector<Row> rows;
    for (const simulation::Estimate &one : advice.model.estimates) {
        const bool is_mostly_bounded = 2 * one.bounded > one.bursts;
        rows.push_back({printable(advice.sighting.seen.tasks[one.task]), std::to_string(one.gpu),
                        percent_in_table(one.seen), percent_in_table(one.simulated),
                        one.pause ? short_time(one.work, " ") : "always",
                        one.pause ? is_mostly_bounded ? "< " + short_time(one.bound, " ")
                                                      : short_time(one.pause, " ")
                                  : "-",
                        (one.is_timeslice_known ? "" : "~ ") + short_time(one.timeslice, " ")});
    }
    return fitted(columns, std::move(rows), advice_columns);
}

Table proposal_table(const Proposal &proposal) {
    static constexpr Column columns[] = {
        {"TASK", true, 0},      {"GOAL", true, 0}, {"GETS", false, 0}, {"ALONE", false, 0},
        {"WAIT P50", false, 0}, {"P99", false, 0}, {"KEPT", false, 0}};
    std::vector<Row> rows;
    for (std::size_t n = 0; n < proposal.result.jobs.size(); n++) {
        const simulation::JobResult &job = proposal.result.jobs[n];
        const qos::Waits &waits = proposal.waits[n];
        rows.push_back({printable(job.name), proposal.scenario.has_control ? job.goal : "-",
                        percent_in_table(job.got), percent_in_table(alone_of(job)),
                        time_in_table(waits.quantile(qos::whole / 2)), time_in_table(waits.p99()),
                        job.kept && job.goal != "best-effort" ? *job.kept ? "yes" : "no" : "-"});
    }
    return fitted(columns, std::move(rows), advice_columns);
}

AdviceJson task_json(const Advice &advice, const simulation::Estimate &one) {
    const std::string &who = advice.sighting.who[one.task];
    return {
        {"name", advice.sighting.seen.tasks[one.task]},
        {"who", who.empty() ? AdviceJson() : AdviceJson(who)},
        {"gpu", one.gpu},
        {"had", fraction_in(one.seen)},
        {"unasked", fraction_in(one.unasked)},
        {"simulated", fraction_in(one.simulated)},
        {"work_us", one.pause ? AdviceJson(static_cast<double>(one.work) / 1000) : AdviceJson()},
        {"pause_us", one.pause ? AdviceJson(static_cast<double>(one.pause) / 1000) : AdviceJson()},
        {"pauses", one.bursts},
        {"bounded_pauses", one.bounded},
        {"bound_us",
         one.bounded ? AdviceJson(static_cast<double>(one.bound) / 1000) : AdviceJson()},
        {"timeslice_us", static_cast<double>(one.timeslice) / 1000},
        {"timeslice_known", one.is_timeslice_known}};
}

AdviceJson wait_json(const qos::Waits &waits) {
    const auto in_ms = [](std::optional<qos::Ns> time) {
        return time ? AdviceJson(qos::milliseconds(*time / qos::us * qos::us)) : AdviceJson();
    };
    return {{"n", waits.count()},
            {"p50", in_ms(waits.quantile(qos::whole / 2))},
            {"p99", in_ms(waits.p99())}};
}

AdviceJson proposal_json(const Advice &advice, const Proposal &proposal) {
    AdviceJson jobs = AdviceJson::array();
    for (std::size_t n = 0; n < proposal.result.jobs.size(); n++) {
        const simulation::JobResult &job = proposal.result.jobs[n];
        AdviceJson gpus = AdviceJson::array();
        for (const auto &one : job.gpus)
            gpus.push_back({{"gpu", one.gpu},
                            {"got", fraction_in(one.got)},
                            {"got_alone", fraction_in(one.got_alone)}});
        jobs.push_back(
            {{"name", job.name},
             {"goal", proposal.scenario.has_control ? AdviceJson(job.goal) : AdviceJson()},
             {"got", fraction_in(job.got)},
             {"gpus", std::move(gpus)},
             {"wait_ms", wait_json(proposal.waits[n])},
             {"kept", job.kept ? AdviceJson(*job.kept) : AdviceJson()}});
    }
    const std::string command = command_of(advice, proposal);
    return {{"name", proposal.name},
            {"command", command.empty() ? AdviceJson() : AdviceJson(command)},
            {"all_kept",
             proposal.scenario.has_control ? AdviceJson(proposal.result.all_kept()) : AdviceJson()},
            {"jobs", std::move(jobs)}};
}

} // namespace

std::string command_of(const Advice &advice, const Proposal &proposal) {
    if (!proposal.scenario.has_control)
        return "";
    std::string command = "sudo nvqos";
    for (std::size_t n = 0; n < proposal.scenario.jobs.size(); n++) {
        const std::string &goal = proposal.scenario.jobs[n].goal_text;
        if (goal == "best-effort")
            continue;
        if (advice.sighting.who[n].empty())
            return "";
        command += " " + advice.sighting.who[n] + "=" + goal;
    }
    return command;
}

std::string text_of(const Advice &advice) {
    const simulation::Gpus &gpus = advice.model.scenario.gpus;
    std::string text =
        paragraph(fmt::format("{}, {:.2f} s, and a simulation of it without goals:", advice.source,
                              qos::seconds(advice.sighting.length)));
    text += lines_of(tasks_table(advice));
    const std::string on_card = fmt::format("as on an {}", card_of(advice));
    const auto from = [&](bool is_seen) { return is_seen ? "as was seen" : on_card; };
    text += paragraph(
        fmt::format("A switch takes {}, {}, and a turn ends {} after its timeslice, {}. "
                    "A resumed turn loses {} "
                    "and a request to the driver takes {}, {}.",
                    short_time(gpus.switching, " "), from(advice.model.has_seen_switching),
                    short_time(gpus.late, " "), from(advice.model.has_seen_late),
                    short_time(gpus.resume, " "), short_time(gpus.request, " "), on_card));
    for (const std::string &note : notes_of(advice))
        text += paragraph("Note: " + note + ".");
    for (const Proposal &proposal : advice.proposals) {
        text +=
            "\n" + paragraph(printable(proposal.name) + ":") + lines_of(proposal_table(proposal));
        if (const std::string command = command_of(advice, proposal); !command.empty())
            text += "  " + command + "\n";
    }
    text += "\n";
    text +=
        paragraph("GETS is the part of its GPUs that a task would have, and ALONE the part that "
                  "it would use without the others. WAIT P50 and P99 are the median and the 99th "
                  "percentile of its waits for a turn while it has work.");
    return text + paragraph(what_is_not_known(advice));
}

std::string json_of(const Advice &advice) {
    AdviceJson tasks = AdviceJson::array(), proposals = AdviceJson::array();
    for (const simulation::Estimate &one : advice.model.estimates)
        tasks.push_back(task_json(advice, one));
    for (const Proposal &one : advice.proposals)
        proposals.push_back(proposal_json(advice, one));
    const simulation::Gpus &gpus = advice.model.scenario.gpus;
    const AdviceJson json = {{"version", 1},
                             {"source", advice.source},
                             {"seconds", qos::seconds(advice.sighting.length)},
                             {"notes", notes_of(advice)},
                             {"switch_us", static_cast<double>(gpus.switching) / 1000},
                             {"late_us", static_cast<double>(gpus.late) / 1000},
                             {"tasks", std::move(tasks)},
                             {"proposals", std::move(proposals)}};
    return json.dump(-1, ' ', false, AdviceJson::error_handler_t::replace) + "\n";
}

} // namespace nvqos
