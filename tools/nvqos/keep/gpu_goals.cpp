// SPDX-License-Identifier: MIT OR GPL-2.0
#include "gpu_goals.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "lib/base/claim.hpp"
#include "lib/base/marks.hpp"
#include "lib/base/printable.hpp"
#include "lib/base/quantity.hpp"
#include "lib/base/runtime_folder.hpp"
#include "tools/nvqos/refusal.hpp"

namespace nvqos {

using nvdebug::base::printable;
using nvdebug::base::short_time;
using qos::Ns;

namespace {

/// A GPU in MIG mode may be used again when the mode is off, unlike a GPU that is not supported.
bool has_mig_on(const nvdebug::Info &info) {
    const nvdebug::Feature *const lists = info.feature("runlist");
    return lists && !lists->available && lists->reason.find("MIG is on") != std::string::npos;
}

std::optional<std::uint32_t> runlist_of_gr0(const nvdebug::Gpu &gpu) {
    if (const auto engines = gpu.engines())
        for (const nvdebug::Engine &engine : *engines)
            if (engine.name == "GR0")
                return engine.runlist;
    return std::nullopt;
}

Ns beat_of(const GpuGoals::Options &options) {
    return std::chrono::nanoseconds(options.beat.value_or(options.patience / 4)).count();
}

} // namespace

// --- beginning and end ---

struct GpuGoals::Parts {
    nvdebug::Gpu gpu;
    std::string pci_address; ///< empty: not known
    std::unique_ptr<nvdebug::SwitchReader> reader;
    std::shared_ptr<const void> claim;
};

GpuGoals::GpuGoals(Parts parts, const Goals &goals, const Options &options, Warn warn)
    : number_(options.index.value_or(parts.gpu.index())), options_(options),
      claim_(std::move(parts.claim)), warnings_(std::move(warn), number_),
      marks_(options.marks, number_), tenants_(goals, 0),
      turns_(std::move(parts.reader),
             options.clock ? options.clock : GpuClock::Local(monotonic_raw)),
      tasks_(parts.gpu, tenants_,
             {.holds = !options.dry_run,
              .wants_pages = !options.dry_run,
              .patience = options.patience,
              .runlist = runlist_of_gr0(parts.gpu),
              .longest_unlooked = options.longest_unlooked,
              .processes = options.processes,
              .started = [this](std::uint32_t pid) { return turns_.started(pid); },
              .searches = options.searches},
             warnings_),
      levers_(tasks_, tenants_, beat_of(options), [this] { return turns_.estimate(); }),
      governor_(make_governor(0)) {
    if (!options.dry_run)
        launches_.emplace(parts.pci_address, options.patience, tasks_, tenants_, warnings_);
}

Outcome<std::unique_ptr<GpuGoals>> GpuGoals::start(nvdebug::Gpu gpu, const Goals &goals,
                                                   const Options &options, Warn warn) {
    const auto info = gpu.info();
    if (info && has_mig_on(*info))
        return fail(failed, "MIG is on, and goals are kept on whole GPUs: 'nvidia-smi -i N -mig 0' "
                            "turns it off");
    auto reader = gpu.follow_switches();
    if (!reader)
        return fail(reader.error());
    if (!(*reader)->sees_processes())
        return fail(
            not_supported,
            "NVIDIA's driver counts processes as the host does, and this container has numbers "
            "of its own: run nvqos in the host's PID namespace (docker run --pid=host)");
    Parts parts{std::move(gpu), info ? info->pci_address.value_or("") : "", std::move(*reader), {}};
    parts.claim = nvdebug::base::claim_shares(nvdebug::base::runtime_folder, parts.pci_address);
    if (!parts.claim && !options.dry_run)
        return tl::unexpected(
            Failure{refused,
                    "another nvqos, or 'nvdebugctl task set --share', runs on this GPU: give all "
                    "goals in one, or end it first",
                    true});
    std::unique_ptr<GpuGoals> made(new GpuGoals(std::move(parts), goals, options, std::move(warn)));
    return made->begin().map([&] { return std::move(made); });
}

/// Returns a governor whose goals begin at @p now.
RecordedGovernor GpuGoals::make_governor(Ns now) const {
    return {
        {options_.decisions, number_}, tenants_.goals().settings, tenants_.list(), now, planner()};
}

qos::Planner GpuGoals::planner() const {
    if (!options_.plan)
        return qos::plan_alone;
    return [plan = options_.plan, gpu = number_](qos::GpuView view) {
        view.gpu = gpu;
        return plan->decide(std::move(view));
    };
}

/// Finds all tasks, and begins the goals.
Outcome<void> GpuGoals::begin() {
    if (auto time = turns_.read_clock(); !time)
        return time;
    if (auto found = tasks_.find_all(turns_.now()); !found)
        return found;
    // Goals begin now, so the turns during the search do not count.
    if (auto time = turns_.read_clock(); !time)
        return time;
    turns_.begin();
    governor_ = make_governor(turns_.now());
    tenants_.begin(turns_.now());
    count_tsgs();
    governor_.step(turns_.now());
    if (const auto refusals = this->refusals(); !refusals.empty()) {
        if (!options_.takes_any_goals)
            return tl::unexpected(Failure{refused, refusals.front(), true});
        warnings_.once(fmt::format("{}; each is cut until they fit", refusals.front()));
    }
    marks_.set(tenants_.goals());
    return {};
}

GpuGoals::~GpuGoals() {
    let_go();
}

void GpuGoals::let_go() {
    tasks_.clear();
    launches_.reset();
    marks_.set({});
    if (options_.plan)
        options_.plan->forget(number_);
    if (options_.gangs)
        options_.gangs->set(number_, {});
}

// --- a step ---

Outcome<std::optional<Report>> GpuGoals::step() {
    if (auto time = turns_.read_clock(); !time)
        return tl::unexpected(time.error());
    const auto found = tasks_.take_result();
    if (!found)
        return tl::unexpected(found.error());
    const bool reads = *found || governor_.needs_turns(turns_.now());
    if (reads)
        if (auto read = read_turns(); !read)
            return tl::unexpected(read.error());
    // Turns of tasks that have ended are still theirs, so they were read before.
    if (*found)
        tasks_.take_found(**found);
    count_tsgs();
    set_marks();
    auto epoch = governor_.step(turns_.now(), reads);
    if (!reads)
        if (auto read = read_before_pauses_end(); !read)
            return tl::unexpected(read.error());
    std::optional<Report> made;
    if (epoch) {
        judge_windows(*epoch);
        if (launches_)
            launches_->judge(*epoch);
        judge_engines(*epoch);
        note_kept(*epoch);
        made = report(std::move(*epoch));
    }
    set_levers();
    tasks_.search(turns_.now());
    due_ = governor_.due();
    return made;
}

Outcome<void> GpuGoals::read_turns() {
    const auto read = turns_.read();
    if (!read)
        return tl::unexpected(read.error());
    if (read->has_gap) {
        gap_at_ = turns_.now();
        governor_.lose();
        tasks_.mark_gap();
    }
    const auto &keys = tenants_.keys();
    for (const TaskTurn &one : read->turns) {
        const qos::TenantTurn turn = tasks_.take(one);
        tenants_.add_use(turn);
        governor_.add(turn);
        if (options_.gangs)
            windows_.add({turn, tasks_.timeslice(one.pid), levers_.changed_at()}, keys[turn.tenant],
                         turns_.local_of(turn.begin), turns_.local_of(turn.end));
    }
    return {};
}

/// Reads turns if the wanted levers end a pause. Tasks::take() ends the turn of a paused task with
/// the pause, so turns are read while it still knows that the task is paused.
Outcome<void> GpuGoals::read_before_pauses_end() {
    return levers_.ends_pause(wanted_levers()) ? read_turns() : Outcome<void>();
}

void GpuGoals::count_tsgs() {
    const auto tsgs = tasks_.tsgs();
    for (std::size_t n = 0; n < tsgs.size(); n++)
        governor_.set_tsgs(n, tsgs[n]);
}

/// Sets which tenants are busy or idle by the marks of their tasks' processes.
void GpuGoals::set_marks() {
    if (!options_.engine_marks)
        return;
    const auto now = static_cast<Ns>(nvdebug::base::monotonic_ns());
    std::vector<std::optional<bool>> marked(tenants_.size());
    for (const auto &[pid, task] : tasks_.all())
        if (const auto busy = options_.engine_marks->busy(pid, now))
            marked[task.tenant] = *busy || marked[task.tenant].value_or(false);
    for (std::size_t n = 0; n < marked.size(); n++)
        governor_.mark(n, marked[n]);
}

/// Returns what an engine's requests took lately; empty: it has no goal for them, or marks none.
std::optional<EngineTimes> GpuGoals::engine_times(std::size_t tenant) const {
    const qos::Goal &goal = tenants_.goal(tenant);
    if (!goal.is_marked() || !options_.engine_marks)
        return std::nullopt;
    std::vector<std::uint32_t> pids;
    for (const auto &[pid, task] : tasks_.all())
        if (task.tenant == tenant)
            pids.push_back(pid);
    return options_.engine_marks->times(pids, goal, static_cast<Ns>(nvdebug::base::monotonic_ns()));
}

/// Judges the goals of engines by the marks of their requests.
void GpuGoals::judge_engines(qos::EpochRecord &epoch) const {
    for (std::size_t n = 0; n < tenants_.size(); n++)
        if (const auto times = engine_times(n); times && !times->is_kept(tenants_.goal(n)))
            epoch.tenants[n].kept = false;
}

void GpuGoals::set_levers() {
    if (options_.dry_run)
        return;
    const auto pauses = levers_.set(wanted_levers(), {turns_.now(), due_, turns_.has_switches()});
    for (const std::size_t tenant : pauses.tenants)
        marks_.pause(tenant);
    if (pauses.takes && !windows_.decide())
        governor_.set_pause(*pauses.takes);
    // Tasks that are not held, or have windows, have other timeslices than their lever's.
    for (std::size_t n = 0; n < tenants_.size(); n++) {
        governor_.set_in_effect(n, !windows_.decide() && tasks_.held(n) == tasks_.count(n));
        governor_.set_spans(n, options_.gangs && options_.gangs->report(tenants_.keys()[n]));
    }
    count_tsgs();
    launches_->keep();
    tell_tenants();
}

std::vector<WantedLever> GpuGoals::governors_levers() const {
    const bool sets_timeslices = qos::takes_timeslices(tenants_.list());
    std::vector<WantedLever> wanted;
    for (const auto &[timeslice, paused] : governor_.levers())
        wanted.push_back({sets_timeslices ? std::optional(timeslice) : std::nullopt, paused});
    return wanted;
}

std::vector<WantedLever> GpuGoals::wanted_levers() const {
    std::vector<WantedLever> wanted = governors_levers();
    if (!windows_.decide())
        return wanted;
    const auto &keys = tenants_.keys();
    for (std::size_t n = 0; n < wanted.size(); n++) {
        // A tenant that has just come does not get a long timeslice in the window of another one.
        const WantedLever none{qos::WindowSettings().other_slice, wanted[n].paused};
        wanted[n] = windows_.lever(keys[n]).value_or(none);
    }
    return wanted;
}

/// Judges shares and speeds in an epoch with windows by what the tenants got. The governor takes a
/// task that waits for its window for one without work.
void GpuGoals::judge_windows(qos::EpochRecord &epoch) const {
    if (!windows_.decide())
        return;
    const auto &keys = tenants_.keys();
    for (std::size_t n = 0; n < tenants_.size(); n++) {
        const qos::Goal &goal = tenants_.goal(n);
        qos::Record &record = epoch.tenants[n];
        if (!qos::is_promised(goal.aim) || record.second.time < qos::second)
            continue;
        const auto got = windows_.got(keys[n], goal.part, record.second);
        if (!got)
            continue;
        record.kept =
            *got && (!goal.cap ||
                     record.second.used <= qos::scaled(record.second.time, *goal.cap, qos::whole) +
                                               qos::allowance(record.second));
        record.is_unseen = false;
        record.is_judged = true;
    }
}

/// Passes the tenants with held tasks to the conductor, if they are others than before.
void GpuGoals::tell_tenants() {
    if (!options_.gangs)
        return;
    const auto &keys = tenants_.keys();
    std::vector<qos::TenantOnGpu> now;
    for (std::size_t n = 0; n < tenants_.size(); n++)
        if (tasks_.held(n) > 0)
            now.push_back(
                {keys[n], tenants_.goal(n), tenants_.is_gang(n), tenants_.is_on_other_nodes(n)});
    if (now == told_)
        return;
    windows_.forget_others(now);
    options_.gangs->set(number_, told_ = std::move(now));
}

// --- windows ---

Outcome<std::vector<qos::WindowTurn>> GpuGoals::take_window_turns() {
    if (auto time = turns_.read_clock(); !time)
        return tl::unexpected(time.error());
    if (auto read = read_turns(); !read)
        return tl::unexpected(read.error());
    return windows_.take_turns();
}

Outcome<void> GpuGoals::set_windows(std::span<const qos::TenantLever> levers) {
    if (!windows_.decide()) {
        const auto &keys = tenants_.keys();
        const auto present = governors_levers();
        std::map<std::string, WantedLever> by_name;
        for (std::size_t n = 0; n < keys.size(); n++)
            if (tasks_.held(n) > 0)
                by_name.emplace(keys[n], present[n]);
        windows_.begin(std::move(by_name));
    }
    windows_.put(levers);
    if (auto time = turns_.read_clock(); !time)
        return time;
    if (auto read = read_before_pauses_end(); !read)
        return read;
    set_levers();
    return {};
}

Outcome<void> GpuGoals::end_windows() {
    if (!windows_.decide())
        return {};
    if (auto time = turns_.read_clock(); !time)
        return time;
    if (auto read = read_turns(); !read)
        return read;
    windows_.end();
    governor_ = make_governor(turns_.now());
    count_tsgs();
    governor_.step(turns_.now());
    set_levers();
    return {};
}

void GpuGoals::note_kept(const qos::EpochRecord &epoch) {
    const std::string now = utc_now();
    for (std::size_t n = 0; n < tenants_.size(); n++) {
        const qos::Record &record = epoch.tenants[n];
        const bool is_unseen =
            record.kept && why_not(n, record, epoch.overcommitted) == WhyNot::cannot_be_seen;
        // Without marks an engine's goal was neither kept nor missed.
        if (tenants_.goal(n).is_marked() && !engine_times(n))
            continue;
        tenants_.note(n, is_unseen ? std::nullopt : std::optional(record.kept), now);
        // A goal that was missed is not kept again as long as it cannot be seen.
        if (!is_unseen)
            marks_.keep(n, record.kept);
    }
    if (!epoch.overcommitted)
        cut_since_.clear();
    else if (cut_since_.empty())
        cut_since_ = now;
}

Ns GpuGoals::wait() {
    const Ns due = GpuClock::time_for(std::max<Ns>(0, governor_.due() - turns_.estimate()));
    return std::min(due,
                    tasks_.is_searching() ? qos::between_looks_at_a_search : 2 * beat_of(options_));
}

// --- other goals ---

Outcome<void> GpuGoals::set_goals(const Goals &goals) {
    const Tenants before = tenants_;
    const auto was = replace_tenants(goals);
    if (const auto refusals = this->refusals(); !refusals.empty()) {
        tenants_ = before;
        assign_tenants();
        return fail(refused, refusals.front());
    }
    take_over(before.goals(), was);
    return {};
}

void GpuGoals::put_goals(const Goals &goals) {
    const Goals before = tenants_.goals();
    take_over(before, replace_tenants(goals));
}

/// Returns by tenant the number of its previous row, if it had one (Tenants::replace()).
std::vector<std::optional<std::size_t>> GpuGoals::replace_tenants(const Goals &goals) {
    auto was = tenants_.replace(goals, turns_.now());
    tasks_.assign_tenants();
    return was;
}

/// Gives the governor the tenants that were replaced, and sets their levers.
void GpuGoals::take_over(const Goals &before, std::span<const std::optional<std::size_t>> was) {
    const Goals &goals = tenants_.goals();
    if (goals.settings == before.settings)
        governor_.set_goals(tenants_.list(), was, turns_.now());
    else
        governor_ = make_governor(turns_.now());
    count_tsgs();
    marks_.set(goals);
    // Without goals no task is changed.
    if (goals.any() != before.any())
        tasks_.hold_again();
    governor_.step(turns_.now(), false);
    set_levers();
}

void GpuGoals::assign_tenants() {
    tasks_.assign_tenants();
    count_tsgs();
}

// --- reports ---

std::vector<std::string> GpuGoals::refusals() const {
    std::vector<qos::Entrant> entrants;
    for (std::size_t n = 0; n < tenants_.size(); n++)
        entrants.push_back({tenants_.goal(n), tasks_.tsgs()[n]});
    return refusals_of(tenants_.goals(), std::move(entrants));
}

std::vector<FamilyUse> GpuGoals::uses() const {
    std::vector<FamilyUse> all;
    for (std::size_t n = 0; n < tenants_.others(); n++) {
        const KeptTenant &row = tenants_[n];
        if (!row.asked.family)
            continue;
        const Ns time = turns_.now() - row.since;
        const Missed &missed = row.missed;
        all.push_back({row.asked.family,
                       {.time = time,
                        .used = row.used,
                        .part = qos::part_of(row.used, time, tenants_.goals().settings),
                        .waits = governor_.waits(n),
                        .kept = missed.part_of(time, missed.of - missed.epochs - missed.unseen),
                        .unseen = missed.part_of(time, missed.unseen)}});
    }
    return all;
}

std::vector<bool> GpuGoals::has_tasks() const {
    std::vector<bool> has;
    for (std::size_t n = 0; n < tenants_.others(); n++)
        has.push_back(tasks_.count(n) > 0);
    return has;
}

/// Returns a sentence on promised parts that do not fit: there are more tasks than at the start, or
/// a tenant that is served first takes too much.
std::string GpuGoals::why_cut() const {
    if (const auto refusals = this->refusals(); !refusals.empty())
        return refusals.front();
    return "the promised parts do not fit beside what tenants that are served first take and the "
           "turns of tasks without a promise; ask for smaller parts, or give a cap to what is "
           "served first";
}

/// Returns the part of the last second that a tenant had. It is not known of clients of an MPS
/// server, which have no turns of their own.
std::optional<qos::Part> GpuGoals::part_of_second(std::size_t tenant,
                                                  const qos::Record &record) const {
    const bool is_long =
        turns_.now() - tenants_[tenant].since >= qos::least_for_part(tenants_.goals().settings);
    return is_long && record.second.time > 0 && (!tasks_.count(tenant) || tasks_.held(tenant) > 0)
               ? std::optional(qos::scaled(record.second.used, qos::whole, record.second.time))
               : std::nullopt;
}

/// Returns TenantReport::is_measured. Only the times of its requests show whether a tenant is
/// served first.
bool GpuGoals::is_measured(std::size_t tenant, const qos::Record &record) const {
    const bool has_second = record.second.time >= qos::second;
    const qos::Goal &goal = tenants_.goal(tenant);
    if (goal.aim != qos::Aim::latency)
        return record.is_judged;
    if (goal.is_marked())
        return has_second && engine_times(tenant);
    return has_second && goal.p99 && launches_ && launches_->has_recent_request(tenant);
}

/// Returns qos::why_not(). Speeds that are kept by launches are judged by launches, and not by
/// turns; a cap beside them is not.
std::optional<WhyNot> GpuGoals::why_not(std::size_t tenant, const qos::Record &record,
                                        bool is_cut) const {
    qos::Goal goal = tenants_.goal(tenant);
    if (goal.is_marked() && tasks_.count(tenant) > 0 && !engine_times(tenant))
        return WhyNot::no_marks;
    if (goal.aim == qos::Aim::speed && launches_ && launches_->paced(tenant) > 0)
        goal.aim = qos::Aim::best_effort;
    const bool has_gap = gap_at_ && turns_.now() - *gap_at_ < record.second.time;
    return qos::why_not(goal, record,
                        {.has_tasks = tasks_.count(tenant) > 0,
                         .is_seen = !has_gap && tasks_.are_seen(tenant),
                         .is_cut = is_cut});
}

/// Returns the lever in effect of a tenant. A timeslice that is not set is as the governor has it.
qos::Lever GpuGoals::lever_of(std::size_t tenant, const WantedLever &wanted) const {
    return {wanted.timeslice.value_or(governor_.lever(tenant).timeslice), wanted.paused};
}

Report GpuGoals::report(qos::EpochRecord epoch) const {
    Report made{number_, std::move(epoch), {}, turns_.lost()};
    made.reads = turns_.reads();
    made.requests = levers_.requests();
    const auto levers = wanted_levers();
    const auto &keys = tenants_.keys();
    for (std::size_t n = 0; n < tenants_.size(); n++) {
        const qos::Record &record = made.epoch.tenants[n];
        const qos::Waits &waits = governor_.waits(n);
        TenantReport line{.name = tenants_[n].asked.name,
                          .goal = tenants_.goal(n),
                          .record = record,
                          .credit = governor_.credit(n),
                          .lever = lever_of(n, levers[n]),
                          .tasks = tasks_.count(n),
                          .tsgs = governor_.entrants()[n].tsgs,
                          .violations = tenants_[n].missed.epochs,
                          .waits = waits.count(),
                          .wait_p99 = waits.p99(),
                          .longest_wait = waits.longest(),
                          .held = tasks_.held(n),
                          .engine = engine_times(n),
                          .got = part_of_second(n, record),
                          .is_measured = is_measured(n, record),
                          .containers = tasks_.containers(n)};
        if (launches_)
            launches_->describe(n, line);
        line.why_not = why_not(n, record, made.epoch.overcommitted);
        line.is_gang = tenants_.is_gang(n);
        line.is_on_other_nodes = tenants_.is_on_other_nodes(n);
        if (options_.gangs)
            line.gang = options_.gangs->report(keys[n]);
        made.tenants.push_back(std::move(line));
    }
    if (made.epoch.overcommitted) {
        made.cut_since = cut_since_;
        made.why_cut = why_cut();
    }
    for (const qos::Dependence &one :
         qos::dependences(governor_.entrants(), tenants_.goals().settings))
        made.tenants[one.tenant].depends.push_back({tenants_[one.on].asked.name, one.why});
    return made;
}

std::vector<std::string> GpuGoals::waits() const {
    std::vector<std::string> sentences;
    for (std::size_t n = 0; n < tenants_.size(); n++) {
        const qos::Waits &waits = governor_.waits(n);
        if (const auto p99 = waits.p99())
            sentences.push_back(fmt::format(
                "gpu{}: {}: of {} waits between turns 99 % took at most {}, the longest {}",
                number_, printable(tenants_[n].asked.name), waits.count(), short_time(*p99, " "),
                short_time(waits.longest(), " ")));
    }
    return sentences;
}

Report GpuGoals::plan() const {
    qos::EpochRecord epoch{turns_.now(), turns_.now(), 0, false, {}};
    epoch.tenants.resize(tenants_.size(), {.kept = true, .is_judged = false});
    return report(std::move(epoch));
}

} // namespace nvqos
