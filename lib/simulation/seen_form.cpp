// SPDX-License-Identifier: MIT OR GPL-2.0
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models.hpp"
#include "seen.hpp"

namespace simulation {
namespace {

using FormJson = nlohmann::ordered_json;

/// Returns whole microseconds as an integer, for a file that people read.
FormJson us_of(Ns time) {
    return time % qos::us == 0 ? FormJson(time / qos::us)
                               : FormJson(static_cast<double>(time) / 1000);
}

FormJson ms_in_form(Ns time) {
    return time % qos::ms == 0 ? FormJson(time / qos::ms) : FormJson(qos::milliseconds(time));
}

FormJson program_in_form(const Program &program) {
    FormJson items = FormJson::array();
    for (const Item &item : program)
        items.push_back(
            {{item.kind == Item::Kind::think ? "think_us" : "kernel_us", us_of(item.time)}});
    return items;
}

FormJson job_in_form(const Job &job) {
    FormJson form = {{"name", job.name}, {"gpus", job.gpus}};
    if (!job.gang && job.ranks() > 1)
        form["gang"] = false;
    if (job.goal_text != "best-effort")
        form["goal"] = job.goal_text;
    if (job.timeslice_us)
        form["timeslice_us"] = *job.timeslice_us;
    form["program"] = program_in_form(job.program(0));
    for (std::size_t rank = 1; rank < job.ranks(); rank++)
        form["rank_programs"][std::to_string(rank)] = program_in_form(job.program(rank));
    return form;
}

std::string one_line(const FormJson &json) {
    return json.dump(-1, ' ', false, FormJson::error_handler_t::replace);
}

} // namespace

std::string text_of(const Scenario &scenario) {
    const Gpus &gpus = scenario.gpus;
    FormJson of_gpus = {{"count", gpus.count},
                        {"timeslice_us", gpus.timeslice_us},
                        {"timeslice_unit_ns", gpus.timeslice_unit},
                        {"switch_us", us_of(gpus.switching)},
                        {"late_us", us_of(gpus.late)},
                        {"resume_us", us_of(gpus.resume)},
                        {"request_us", us_of(gpus.request)}};
    if (gpus.model)
        of_gpus["model"] = gpus.model->name;
    std::string text =
        fmt::format("{{\n  \"version\": 1, \"name\": {}, \"seed\": {},\n  \"duration_ms\": {}, "
                    "\"warmup_ms\": {},{}\n  \"gpus\": {},\n  \"jobs\": [",
                    one_line(scenario.name), scenario.seed, one_line(ms_in_form(scenario.duration)),
                    one_line(ms_in_form(scenario.warmup)),
                    scenario.has_control ? "" : "\n  \"control\": \"none\",", one_line(of_gpus));
    for (std::size_t n = 0; n < scenario.jobs.size(); n++)
        text += (n ? ",\n    " : "\n    ") + one_line(job_in_form(scenario.jobs[n]));
    return text + "\n  ]\n}\n";
}

} // namespace simulation
