// SPDX-License-Identifier: MIT OR GPL-2.0
#include "analysis.hpp"

#include <algorithm>

#include "bounds/systems.hpp"

namespace stgm {
namespace {

std::vector<std::vector<std::size_t>> by_core(const Model &model) {
    std::vector<std::vector<std::size_t>> cores(model.cores());
    for (std::size_t task = 0; task < model.size(); task++)
        cores[model[task].core].push_back(task);
    for (std::vector<std::size_t> &members : cores)
        std::ranges::sort(members, {}, [&](std::size_t task) { return model[task].rank; });
    return cores;
}

bool is_stgm(Method method) {
    return method == Method::stgm || method == Method::tight || method == Method::printed;
}

/// Returns the options with which the method's equations are evaluated.
Options options_of_method(const Options &given) {
    Options options = given;
    if (options.method == Method::printed)
        options.printed = Printed::all();
    else if (options.method != Method::stgm)
        options.printed = {};
    if (options.method == Method::server)
        options.busy = false; // only the server may spin, in place of its tasks
    return options;
}

/// Returns true if tasks suspend, but keep the CPU while they wait for the copy engine. Under a
/// lock for the whole GPU, copies do not wait.
bool spins_for_copies(const Options &options) {
    const bool locks = options.method == Method::mpcp || options.method == Method::fmlp ||
                       options.method == Method::server;
    return options.spin_copies && !options.busy && !locks && !options.printed.copies_suspend;
}

/// Makes the system of the method.
/// @param busy the option as given, by which the server may spin
std::unique_ptr<System> system_of(const Terms &terms, bool busy) {
    switch (terms.options.method) {
    case Method::stgm:
    case Method::printed:
        return std::make_unique<Stgm>(terms);
    case Method::tight:
        return std::make_unique<TightStgm>(terms);
    case Method::mpcp:
        return std::make_unique<PriorityLock>(terms);
    case Method::fmlp:
        return std::make_unique<FifoLock>(terms);
    case Method::server:
        return std::make_unique<Server>(terms, busy);
    case Method::federated:
        return std::make_unique<Federated>(terms);
    case Method::timeslice:
        return std::make_unique<TimeSlices>(terms);
    }
    __builtin_unreachable();
}

} // namespace

bool needs_sms(Method method) {
    return is_stgm(method) || method == Method::federated;
}

Analysis::Analysis(const Model &model, const Options &options)
    : model_(model), terms_(new Terms{.model = model, .options = options_of_method(options)}),
      system_(system_of(*terms_, options.busy)), waits_(model.size()), response_(model.size()) {
    terms_->spins = spins_for_copies(terms_->options);
    sms_changed();
}

Analysis::~Analysis() = default;

void Analysis::sms_changed() {
    system_->sms_changed();
    cores_changed();
}

void Analysis::cores_changed() {
    terms_->sum_copies();
    system_->cores_changed();
    for (std::size_t task = 0; task < model_.size(); task++)
        waits_[task] = system_->waits(task);
}

bool Analysis::depends_on_cores() const {
    return system_->depends_on_cores();
}

/// Returns the demand of a task of higher priority. In eq. 1 it is E_h, with a jitter of W_h - E_h.
/// In eq. 9 it has no jitter, and as printed includes the blocking of the task that is preempted.
Source Analysis::preemption(std::size_t above, const Blocking &blocking) const {
    const Numbers &one = model_[above];
    const Options &options = terms_->options;
    const Time demand = waits_[above].demand;
    if (!options.busy)
        return {demand, one.period,
                std::max(Time{0}, response_[above].value_or(one.deadline) - demand)};
    if (options.printed.own_blocking)
        return {add(add(one.cpu, one.segments()), blocking.sum()), one.period, 0};
    return {demand, one.period, 0};
}

/// Solves eq. 1, or eq. 9 if tasks are busy: W = C + G + B + preemption. If tasks suspend, a task
/// has no bound if a task of higher priority on the core has none.
Bound Analysis::bound(std::span<const std::size_t> members, std::size_t at) {
    const std::size_t task = members[at];
    const Numbers &mine = model_[task];
    const Waits &waits = waits_[task];
    Bound found{.response = std::nullopt,
                .blocking = {waits.copies, waits.kernels, system_->inversion(members, at, waits_)}};
    const Time base = add(add(mine.cpu, mine.segments()), found.blocking.sum());
    bool proven = true;
    sources_.clear();
    for (const std::size_t above : members.first(at)) {
        sources_.push_back(preemption(above, found.blocking));
        proven &= terms_->options.busy || response_[above].has_value();
    }
    system_->add_sources(task, sources_);
    // A GPU segment begins when the job has the core, even if it takes no time; a CPU segment of no
    // length ends at once.
    const bool dispatched = mine.uses_gpu() && terms_->options.method != Method::printed;
    Time last = 0;
    const auto response = least_response(base, sources_, mine.deadline, dispatched ? 1 : 0, &last);
    found.preemption = without(response.value_or(last), base);
    if (!waits.none)
        found.response = response;
    system_->improve(task, base, sources_, found);
    if (!proven)
        found.response.reset();
    response_[task] = found.response;
    last_ = found;
    return found;
}

bool Analysis::fits(std::span<const std::size_t> members) {
    for (std::size_t at = 0; at < members.size(); at++)
        if (!bound(members, at).response)
            return false;
    return true;
}

bool Analysis::one_fits(std::span<const std::size_t> members, std::size_t task) {
    for (std::size_t at = 0; at < members.size(); at++)
        if (const bool has = bound(members, at).response.has_value(); members[at] == task)
            return has;
    return false;
}

/// Removes each bound that counts jobs of a task without a bound: such a task may miss its
/// deadline, so that the count does not hold.
void Analysis::withdraw_unproven(std::vector<Bound> &bounds) const {
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t task = 0; task < bounds.size(); task++)
            for (std::size_t other = 0; bounds[task].response && other < bounds.size(); other++)
                if (other != task && !bounds[other].response &&
                    system_->counts(task, other, bounds[task])) {
                    bounds[task].response.reset();
                    changed = true;
                }
    }
}

std::vector<Bound> Analysis::bounds() {
    std::vector<Bound> found(model_.size());
    for (const std::vector<std::size_t> &members : by_core(model_))
        for (std::size_t at = 0; at < members.size(); at++)
            found[members[at]] = bound(members, at);
    withdraw_unproven(found);
    return found;
}

std::vector<Bound> analyse(const TaskSet &set, const Options &options) {
    const Model model(set);
    return Analysis(model, options).bounds();
}

bool shares_sms(const TaskSet &set) {
    const Model model(set);
    const Sharing sharing(model);
    for (std::size_t task = 0; task < model.size(); task++)
        if (sharing.shares(task))
            return true;
    return false;
}

bool schedulable(std::span<const Bound> bounds) {
    return std::ranges::all_of(bounds,
                               [](const Bound &bound) { return bound.response.has_value(); });
}

std::string largest_term(const Numbers &task, const Bound &bound, Method method) {
    const bool locks = method == Method::mpcp || method == Method::fmlp;
    const std::pair<Time, const char *> terms[] = {
        {task.cpu, "its own CPU segments"},
        {task.copies, "its own copies"},
        {task.kernels, "its own kernels"},
        {bound.blocking.copy, "waiting for copies of others"},
        {bound.blocking.kernel, locks                         ? "waiting for the GPU's lock"
                                : method == Method::server    ? "waiting for the GPU's server"
                                : method == Method::timeslice ? "turns of others on the GPU"
                                                              : "waiting for kernels of others"},
        {bound.blocking.inversion, "GPU segments of lower priority on its core"},
        {bound.preemption, method == Method::server
                               ? "tasks of higher priority, and the server, on its core"
                               : "tasks of higher priority on its core"}};
    return std::ranges::max_element(terms, {}, [](const auto &term) { return term.first; })->second;
}

} // namespace stgm
