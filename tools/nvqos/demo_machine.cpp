// SPDX-License-Identifier: MIT OR GPL-2.0
#include "demo_machine.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

#include "lib/base/printable.hpp"
#include "lib/base/quantity.hpp"
#include "lib/base/words.hpp"
#include "lib/qos/dependence.hpp"
#include "refusal.hpp"

namespace nvqos {
namespace {

using qos::Ns;
using simulation::Item;

/// The window of DemoMachine::progress().
constexpr Ns progress_window = 10 * qos::second;

/// A task of the demo: a process, and a program that it repeats.
struct DemoTask {
    std::uint32_t pid;
    const char *command, *cgroup;
    const char *names; ///< the selectors that name it, for messages
    const char *unit;  ///< the word for passes of its program
    Ns think, kernel;  ///< time of the CPU, and then of the GPU, in each pass
    Ns mean_gap;       ///< between arrivals of requests; 0: each pass follows the previous one
};

/// The service has requests of the size that was measured most (docs/qos-measured.md). The steps of
/// the training are those of docs/examples/simulate/decode.json. The batch job thinks for so short a
/// time that it practically always has work.
constexpr std::array<DemoTask, 3> demo_tasks{
    {{1001, "serve", "/system.slice/serve.service", "command:serve (pid 1001)", "requests", 0,
      2900 * qos::us, 15 * qos::ms},
     {1002, "train", "/user.slice/train.scope", "command:train (pid 1002)", "steps", 4 * qos::ms,
      70 * qos::ms, 0},
     {1003, "batch",
      "/system.slice/"
      "docker-3f2a5f3d0b6c4e1f9a7d8c2b1e0f4a3d6c5b8e7f0a1d2c3b4e5f6a7b8c9d0e1f.scope",
      "command:batch (pid 1003, container:3f2a)", "steps", 200 * qos::us, 12 * qos::ms, 0}}};

nvdebug::Process process_of(const DemoTask &task) {
    return {.pid = task.pid, .command = task.command, .cgroup = task.cgroup};
}

simulation::Scenario demo_scenario() {
    simulation::Scenario scenario;
    scenario.duration = scenario.warmup = 0; // the simulation goes on until the demo is ended
    for (const DemoTask &task : demo_tasks) {
        simulation::Job job;
        job.name = task.command;
        job.gpus = {0};
        job.of_rank = {0};
        job.mean_gap = task.mean_gap;
        simulation::Program &program = job.programs.emplace_back();
        if (task.think > 0)
            program.push_back({.kind = Item::Kind::think, .time = task.think});
        program.push_back({.kind = Item::Kind::kernel, .time = task.kernel});
        scenario.jobs.push_back(std::move(job));
    }
    return scenario;
}

std::vector<qos::Goal> all_goals(const Goals &goals) {
    std::vector<qos::Goal> all;
    for (const Tenant &tenant : goals.tenants)
        all.push_back(tenant.goal);
    all.push_back(goals.others);
    return all;
}

Failure no_such_task(const Tenant &tenant) {
    std::vector<std::string> all;
    for (const DemoTask &task : demo_tasks)
        all.emplace_back(task.names);
    return {bad_usage, fmt::format("{}: the demo has no such task; it has {}",
                                   nvdebug::base::printable(tenant.name),
                                   nvdebug::base::listed(all, " and "))};
}

} // namespace

Outcome<std::unique_ptr<DemoMachine>> DemoMachine::make(const Goals &goals) {
    std::vector<std::size_t> tenants;
    for (const DemoTask &task : demo_tasks) {
        const auto tenant = std::ranges::find_if(
            goals.tenants, [&](const Tenant &one) { return fits(one, process_of(task), {}); });
        tenants.push_back(static_cast<std::size_t>(tenant - goals.tenants.begin()));
    }
    for (const Tenant &tenant : goals.tenants)
        if (std::ranges::none_of(demo_tasks, [&](const DemoTask &task) {
                return fits(tenant, process_of(task), {});
            }))
            return tl::unexpected(no_such_task(tenant));
    return std::unique_ptr<DemoMachine>(new DemoMachine(goals, std::move(tenants)));
}

DemoMachine::DemoMachine(const Goals &goals, std::vector<std::size_t> tenants)
    : goals_(goals), tenants_(std::move(tenants)), scenario_(demo_scenario()),
      passes_(demo_tasks.size()),
      keeper_(0, all_goals(goals), goals.settings,
              [this](const qos::EpochRecord &epoch, const qos::Governor &governor) {
                  add_report(epoch, governor);
              }),
      machine_(scenario_, this) {
    for (const Tenant &tenant : goals.tenants)
        missed_.push_back({tenant.name, tenant.goal});
    missed_.push_back({"others", goals.others});
}

void DemoMachine::begin(const std::vector<simulation::Task> &tasks) {
    for (std::size_t n = 0; n < tasks.size(); n++)
        keeper_.add_task(n, tenants_[tasks[n].job], scenario_.gpus.timeslice_us * qos::us);
}

std::vector<Report> DemoMachine::run_until(Ns end) {
    machine_.run_until(end + 1); // with the epoch that ends then
    take_passes(end);
    return std::exchange(reports_, {});
}

void DemoMachine::take_passes(Ns now) {
    for (std::size_t n = 0; n < passes_.size(); n++) {
        Passes &passes = passes_[n];
        for (const Ns took : machine_.take_times(n)) {
            passes.recent.push_back({now, took});
            passes.took.add(took);
        }
        while (!passes.recent.empty() && passes.recent.front().end <= now - progress_window)
            passes.recent.pop_front();
    }
}

/// Returns the requests of a tenant that is served first, as they are seen of a service which
/// nvtaskset started.
std::optional<Requests> DemoMachine::requests_of(std::size_t tenant, Ns now) const {
    const qos::Goal goal = all_goals(goals_)[tenant];
    const auto task = std::ranges::find(tenants_, tenant);
    if (goal.aim != qos::Aim::latency || task == tenants_.end())
        return std::nullopt;
    const Passes &passes = passes_[static_cast<std::size_t>(task - tenants_.begin())];
    Requests requests{.took = passes.took};
    for (const auto &[end, took] : passes.recent) {
        const bool is_recent = end > now - qos::second;
        requests.recent += is_recent;
        requests.late += is_recent && goal.p99 > 0 && took > goal.p99;
    }
    return requests;
}

/// Makes the report of an epoch from the governor's records, as GpuGoals::report() does on a GPU.
void DemoMachine::add_report(qos::EpochRecord epoch, const qos::Governor &governor) {
    take_passes(epoch.end);
    const std::string now = utc_now();
    Report made{0, std::move(epoch), {}, 0};
    for (std::size_t n = 0; n < missed_.size(); n++) {
        qos::Record &record = made.epoch.tenants[n];
        const auto requests = requests_of(n, made.epoch.end);
        if (requests && requests->late * 100 > requests->recent)
            record.kept = false;
        missed_[n].add(record.kept, now);
        const bool has_second = made.epoch.end >= qos::least_for_part(goals_.settings);
        const qos::Entrant &entrant = governor.entrants()[n];
        const auto tasks = static_cast<std::size_t>(std::ranges::count(tenants_, n));
        made.tenants.push_back(
            {.name = missed_[n].tenant,
             .goal = entrant.goal,
             .record = record,
             .credit = governor.credit(n),
             .lever = governor.lever(n),
             .tasks = tasks,
             .tsgs = entrant.tsgs,
             .violations = missed_[n].epochs,
             .waits = governor.waits(n).count(),
             .wait_p99 = governor.waits(n).p99(),
             .longest_wait = governor.waits(n).longest(),
             .held = std::min(tasks, static_cast<std::size_t>(entrant.tsgs)),
             .requests = requests,
             .got = has_second && record.second.time > 0
                        ? std::optional(
                              qos::scaled(record.second.used, qos::whole, record.second.time))
                        : std::nullopt,
             .is_measured = has_second && (entrant.goal.aim != qos::Aim::latency ||
                                           (entrant.goal.p99 > 0 && requests->recent > 0)),
             .why_not = entrant.goal.is_marked() ? std::optional(WhyNot::no_marks) : std::nullopt});
    }
    if (!made.epoch.overcommitted)
        cut_since_.clear();
    else if (cut_since_.empty())
        cut_since_ = now;
    if (made.epoch.overcommitted) {
        const auto refusals = refusals_of(goals_, governor.entrants());
        made.cut_since = cut_since_;
        made.why_cut = refusals.empty() ? "the promised parts do not fit beside what is served "
                                          "first; ask for smaller parts, or give it a cap"
                                        : refusals.front();
    }
    for (const qos::Dependence &one : qos::dependences(governor.entrants(), goals_.settings))
        made.tenants[one.tenant].depends.push_back({missed_[one.on].tenant, one.why});
    reports_.push_back(std::move(made));
}

std::string DemoMachine::progress() const {
    std::vector<std::string> all;
    for (std::size_t n = 0; n < passes_.size(); n++) {
        qos::Waits took;
        for (const Passes::One &one : passes_[n].recent)
            took.add(one.took);
        const auto p99 = took.quantile(99 * qos::point);
        all.push_back(
            fmt::format("{} {} {}{}", demo_tasks[n].command, took.count(), demo_tasks[n].unit,
                        p99 ? ", 99 % within " + nvdebug::base::short_time(*p99, " ") : ""));
    }
    return fmt::format("the tasks count in the last {} s: {}", progress_window / qos::second,
                       fmt::join(all, "; "));
}

} // namespace nvqos
