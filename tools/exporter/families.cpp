// SPDX-License-Identifier: MIT OR GPL-2.0
#include "families.hpp"

#include <string>
#include <vector>

#include "lib/base/printable.hpp"
#include "text_format.hpp"

namespace nvdebug::exporter {
namespace {

double seconds(std::uint64_t ns) {
    return static_cast<double>(ns) / 1e9;
}

void add_lengths(TextFormat &to, const char *name, const char *help, const Labels &labels,
                 const Lengths &lengths) {
    std::vector<Quantile> quantiles;
    if (lengths.count())
        for (const double part : {0.5, 0.99, 1.0})
            quantiles.push_back({part, seconds(lengths.quantile(part))});
    to.summary(name, help, labels, lengths.count(), seconds(lengths.sum()), quantiles);
}

Labels with(Labels labels, const char *name, std::string value) {
    labels.push_back({name, std::move(value)});
    return labels;
}

/// Returns a task's labels. All tasks have the same labels, with empty values for unknown facts.
///
/// No label has a name that scrapers give to their targets (job, instance, namespace, pod,
/// container, node). Prometheus would keep the target's label and rename ours, and then all tasks
/// would seem to be in the exporter's own pod.
Labels of_task(Labels gpu, std::string pid, std::string command, const Identity &id,
               const base::PodName &name) {
    gpu.push_back({"pid", std::move(pid)});
    gpu.push_back({"command", std::move(command)});
    for (const auto &[label, value] : {std::pair("task_container", &id.container),
                                       {"task_pod", &id.pod},
                                       {"slurm_job", &id.job},
                                       {"slurm_step", &id.step}})
        gpu.push_back({label, value->value_or("")});
    for (const auto &[label, value] : {std::pair("task_namespace", &name.name_space),
                                       {"task_pod_name", &name.pod},
                                       {"task_container_name", &name.container}})
        gpu.push_back({label, *value});
    return gpu;
}

/// Adds the metrics of a task's times.
/// @param has_turns the source records switches; samples have no turns
void add_times(TextFormat &to, const Labels &labels, const Times &times, bool has_turns) {
    to.counter("nvdebug_task_gpu_seconds_total",
               "Time that a task's context was on the graphics engine, with work or without",
               labels, seconds(times.ns));
    to.counter("nvdebug_task_saving_seconds_total",
               "Time that the graphics engine took to stop and save a task after its timeslices",
               labels, seconds(times.saving_ns));
    to.counter("nvdebug_task_away_seconds_total",
               "Time between a task's turns: it waited, or had no work", labels,
               seconds(times.away_ns));
    if (has_turns)
        add_lengths(to, "nvdebug_task_slice_seconds",
                    "Length of a task's turns, since the exporter began", labels, times.slices);
}

void add_task(TextFormat &to, const Labels &gpu, const TaskFacts &task, bool has_turns) {
    const Labels labels = of_task(gpu, task.pid ? std::to_string(*task.pid) : "",
                                  nvdebug::base::printable(task.command), task.id,
                                  task.pod_name.value_or(base::PodName{}));
    add_times(to, labels, task.times, has_turns);
    if (task.channels)
        to.gauge("nvdebug_task_channels", "Channels that a task has", labels,
                 static_cast<double>(*task.channels));
    if (task.timeslice_ns)
        to.gauge("nvdebug_task_timeslice_seconds", "Timeslice of a task's TSG on GR0's runlist",
                 labels, seconds(*task.timeslice_ns));
    if (task.together)
        to.gauge(
            "nvdebug_task_together_ratio",
            "Part of its time in which all GPUs of a task's job ran it at once, in the last ten "
            "seconds, of jobs on several GPUs",
            labels, *task.together);
    if (task.tpcs)
        to.gauge("nvdebug_task_tpcs", "TPCs that nvtaskset keeps a task to", labels, *task.tpcs);
    if (task.kept)
        to.gauge("nvdebug_task_kept",
                 "1: nvtaskset keeps a task to its partition; 0: not all of its launches", labels,
                 *task.kept ? 1 : 0);
}

void add_gpu(TextFormat &to, const Facts &facts, const GpuLabels &wanted) {
    const Labels number = {{"gpu", std::to_string(facts.gpu)}};
    Labels gpu = number;
    if (wanted.uuid)
        gpu.push_back({"uuid", nvdebug::base::printable(facts.uuid)});
    if (wanted.product)
        gpu.push_back({"product", nvdebug::base::printable(facts.product)});
    to.gauge("nvdebug_up", "1: the GPU's state can be read", gpu, facts.trouble ? 0 : 1);
    to.counter("nvdebug_read_errors_total", "Reads of the GPU's state that failed", gpu,
               static_cast<double>(facts.errors));
    if (facts.trouble)
        return;
    Labels info = number;
    for (const auto &[name, value] : {std::pair("chip", &facts.chip),
                                      {"pci_address", &facts.pci_address},
                                      {"uuid", &facts.uuid},
                                      {"product", &facts.product},
                                      {"source", &facts.source}})
        info.push_back({name, nvdebug::base::printable(*value)});
    to.gauge("nvdebug_gpu_info", "Always 1; the labels have the facts", info, 1);
    to.gauge("nvdebug_foreign_pids",
             "1: pids of tasks are of another PID namespace, and not matched with processes here",
             gpu, facts.foreign_pids ? 1 : 0);
    if (facts.missing)
        for (const auto &[why, count] : {std::pair("hidden", facts.missing->hidden),
                                         {"denied", facts.missing->denied},
                                         {"cut", facts.missing->cut}})
            to.gauge("nvdebug_unknown_processes",
                     "Processes of which not all channels are known, by why: hidden, denied, cut",
                     with(gpu, "why", why), static_cast<double>(count));
    for (const TaskFacts &task : facts.tasks)
        add_task(to, gpu, task, facts.has_switches);
    if (facts.others.ns)
        add_times(to, of_task(gpu, "", "others", {}, {}), facts.others, facts.has_switches);
    for (const EngineFacts &engine : facts.engines) {
        const Labels labels = with(gpu, "engine", nvdebug::base::printable(engine.name));
        to.counter("nvdebug_engine_busy_seconds_total", "Time that an engine worked, by samples",
                   labels, seconds(engine.busy_ns));
        to.counter("nvdebug_engine_sampled_seconds_total", "Time that these samples cover", labels,
                   seconds(engine.known_ns));
    }
    for (const ListFacts &list : facts.lists) {
        const Labels labels = with(gpu, "runlist", std::to_string(list.id));
        to.gauge("nvdebug_runlist_tsgs", "TSGs that a runlist holds", labels,
                 static_cast<double>(list.tsgs));
        to.gauge("nvdebug_runlist_channels", "Channels that a runlist holds", labels,
                 static_cast<double>(list.channels));
    }
    if (facts.faulted_channels)
        to.gauge("nvdebug_faulted_channels", "Channels with a fault that has not been cleared", gpu,
                 static_cast<double>(*facts.faulted_channels));
    if (!facts.has_switches)
        return;
    add_lengths(to, "nvdebug_switch_seconds",
                "Time from one turn to the next, where that is at most a millisecond", gpu,
                facts.switches);
    to.counter("nvdebug_switches_lost_total", "Context switches that were not read in time", gpu,
               static_cast<double>(facts.switches_lost));
}

} // namespace

std::string metrics_text(const std::vector<Facts> &gpus, const std::string &version,
                         const GpuLabels &labels) {
    TextFormat found;
    if (!version.empty())
        found.gauge("nvdebug_exporter_build_info", "Always 1: which exporter this is",
                    {{"version", version}}, 1);
    found.gauge("nvdebug_gpus", "GPUs of this node", {}, static_cast<double>(gpus.size()));
    for (const Facts &facts : gpus)
        add_gpu(found, facts, labels);
    return found.text();
}

} // namespace nvdebug::exporter
