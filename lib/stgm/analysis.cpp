// SPDX-License-Identifier: MIT OR GPL-2.0
#include "analysis.hpp"

#include <algorithm>

#include "sharing.hpp"

namespace stgm {
namespace {

/// Of a sum without one of its parts.
Time without(Time sum, Time part) {
    return sum == endless ? endless : sum - part;
}

bool is_stgm(Method method) {
    return method == Method::stgm || method == Method::tight || method == Method::printed;
}

std::vector<std::vector<std::size_t>> by_core(const Model &model) {
    std::vector<std::vector<std::size_t>> cores(model.cores());
    for (std::size_t task = 0; task < model.size(); task++)
        cores[model[task].core].push_back(task);
    for (std::vector<std::size_t> &members : cores)
        std::ranges::sort(members, {}, [&](std::size_t task) { return model[task].rank; });
    return cores;
}

} // namespace

bool needs_sms(Method method) {
    return is_stgm(method) || method == Method::federated;
}

Analysis::Analysis(const Model &model, const Options &options)
    : model_(model), options_(options),
      locks_(options.method == Method::mpcp || options.method == Method::fmlp ||
             options.method == Method::server),
      waits_(model.size()), kernel_waits_(model.size()), response_(model.size()) {
    if (options.method == Method::printed)
        options_.printed = Printed::all();
    else if (options.method != Method::stgm)
        options_.printed = {};
    // The server spins for its tasks, which never do.
    server_spins_ = options.busy;
    if (options.method == Method::server)
        options_.busy = false;
    spins_ = options.spin_copies && !options.busy && !locks_ && !options_.printed.copies_suspend;
    for (const Numbers &task : model.tasks())
        all_copies_ = add(all_copies_, task.longest_copy);
    shared_anew();
}

void Analysis::shared_anew() {
    if (!locks_) {
        const Sharing sharing(model_);
        Time users = 0;
        for (const Numbers &task : model_.tasks())
            users += task.uses_gpu();
        for (std::size_t task = 0; task < model_.size(); task++) {
            Time &wait = kernel_waits_[task];
            const Numbers &mine = model_[task];
            waits_[task].none = false;
            if (!mine.uses_gpu())
                continue;
            switch (options_.method) {
            case Method::tight:
                if (!options_.busy)
                    wait = sharing.path(task);
                break; // busy: depends on cores
            case Method::federated:
                waits_[task].none = sharing.shares(task);
                wait = sharing.component(task);
                break;
            case Method::timeslice:
                // A round of the others' turns, before each of its own.
                wait = users < 2
                           ? 0
                           : add(multiply(users - 1, add(options_.timeslice, options_.turn_extra)),
                                 multiply(users, options_.turn_switch));
                break;
            default:
                wait = options_.printed.direct_sharing ? sharing.direct(task)
                                                       : sharing.component(task);
            }
        }
    }
    placed_anew();
}

void Analysis::placed_anew() {
    copy_of_core_.assign(model_.cores(), 0);
    copies_of_cores_ = 0;
    for (const Numbers &task : model_.tasks())
        if (task.core != no_core)
            copy_of_core_[task.core] = std::max(copy_of_core_[task.core], task.longest_copy);
        else
            copies_of_cores_ = add(copies_of_cores_, task.longest_copy);
    for (const Time longest : copy_of_core_)
        copies_of_cores_ = add(copies_of_cores_, longest);
    if (options_.method == Method::tight && options_.busy) {
        const Sharing sharing(model_);
        for (std::size_t task = 0; task < model_.size(); task++)
            kernel_waits_[task] = model_[task].uses_gpu() ? sharing.one_per_core(task) : 0;
    }
    for (std::size_t task = 0; task < model_.size(); task++) {
        const Numbers &mine = model_[task];
        Waits &waits = waits_[task];
        waits.copies = waits.each_copy = waits.kernels = waits.each_kernel = 0;
        if (locks_)
            waits.none = false;
        if (mine.uses_gpu()) {
            wait_for_copies(task);
            wait_for_kernels(task);
        }
        waits.demand = mine.cpu;
        if (options_.method == Method::server)
            continue;
        if (options_.busy)
            waits.demand = add(add(mine.cpu, mine.segments()), add(waits.copies, waits.kernels));
        else
            waits.demand = add(mine.cpu, mine.copies);
        if (spins_)
            waits.demand =
                add(waits.demand, multiply(2 * mine.gpu_segments, other_core_copies(task)));
    }
}

/// R_p: one copy of each other core.
Time Analysis::other_core_copies(std::size_t task) const {
    const Numbers &mine = model_[task];
    return without(copies_of_cores_,
                   mine.core == no_core ? mine.longest_copy : copy_of_core_[mine.core]);
}

void Analysis::wait_for_copies(std::size_t task) {
    if (locks_)
        return; // under the lock no other task copies
    const Numbers &mine = model_[task];
    Waits &waits = waits_[task];
    const bool one_per_core = options_.method == Method::tight && options_.busy;
    waits.each_copy =
        one_per_core ? other_core_copies(task) : without(all_copies_, mine.longest_copy);
    waits.copies = multiply(2 * mine.gpu_segments, waits.each_copy);
    if (!spins_)
        return;
    const Time others = other_core_copies(task);
    Time wait = multiply(2, others);
    for (std::size_t other = 0; other < model_.size(); other++)
        if (other != task && model_[other].uses_gpu() && model_[other].core == mine.core &&
            mine.core != no_core)
            wait = add(wait, add(model_[other].longest_copy, others));
    waits.copies = multiply(mine.gpu_segments, wait);
}

void Analysis::wait_for_kernels(std::size_t task) {
    const Numbers &mine = model_[task];
    Waits &waits = waits_[task];
    if (options_.method == Method::timeslice) {
        for (const Segment *const segment : mine.gpu) {
            const Time wait =
                multiply(divide_up(segment->kernel_on(mine.sm_count), options_.timeslice),
                         kernel_waits_[task]);
            waits.each_kernel = std::max(waits.each_kernel, wait);
            waits.kernels = add(waits.kernels, wait);
        }
        return;
    }
    if (options_.method == Method::fmlp)
        waits.each_kernel = lock_wait_fifo(task);
    else if (locks_)
        waits.each_kernel = lock_wait_by_priority(task, &waits.none);
    else
        waits.each_kernel = kernel_waits_[task];
    waits.kernels = multiply(mine.gpu_segments, waits.each_kernel);
    if (options_.method == Method::server)
        waits.kernels =
            add(waits.kernels, multiply(2 * mine.gpu_segments, options_.server_overhead));
}

/// One request of each other task; where tasks spin, of each other core.
Time Analysis::lock_wait_fifo(std::size_t task) const {
    Time sum = 0;
    std::vector<Time> of_core(options_.busy ? model_.cores() : 0);
    for (std::size_t other = 0; other < model_.size(); other++) {
        const Numbers &one = model_[other];
        if (other == task || !one.uses_gpu())
            continue;
        if (!options_.busy || one.core == no_core)
            sum = add(sum, one.longest_segment);
        else if (one.core != model_[task].core)
            of_core[one.core] = std::max(of_core[one.core], one.longest_segment);
    }
    for (const Time longest : of_core)
        sum = add(sum, longest);
    return sum;
}

/// What may be given the lock before the task: a segment of lower priority that has begun, and
/// those of higher priority.
Analysis::Requests Analysis::requests_before(std::size_t task) const {
    const Numbers &mine = model_[task];
    const Time overhead = options_.method == Method::server ? options_.server_overhead : 0;
    Requests found;
    for (std::size_t other = 0; other < model_.size(); other++) {
        const Numbers &one = model_[other];
        if (other == task || !one.uses_gpu())
            continue;
        // A task that spins for the lock keeps its core's others from requesting it.
        if (options_.busy && one.core == mine.core && one.core != no_core)
            continue;
        const Time begun = add(one.longest_segment, overhead);
        if (one.above(mine))
            // Of a job that may have come a response before, all segments.
            found.above.push_back({add(one.segments(), multiply(one.gpu_segments, overhead)),
                                   one.period, one.deadline});
        else
            found.begun = std::max(found.begun, begun);
    }
    return found;
}

/// For one request: what is before it, and all that comes while it waits.
Time Analysis::lock_wait_by_priority(std::size_t task, bool *none) const {
    const Requests before = requests_before(task);
    Time last = 0;
    const auto wait = least_response(before.begun, before.above, model_[task].deadline, 0, &last);
    *none = !wait;
    return wait.value_or(last);
}

/// For all requests of a job at once: what of higher priority comes during the whole response. @p
/// found is the bound that counts for each request; the lesser one of both remains.
void Analysis::count_over_job(std::size_t task, Time base, Bound &found) {
    const Numbers &mine = model_[task];
    const Requests before = requests_before(task);
    const Time requests = mine.gpu_segments, own = multiply(2 * requests, options_.server_overhead);
    const Time once =
        add(multiply(requests, before.begun), options_.method == Method::server ? own : 0);
    const std::size_t others = sources_.size();
    sources_.insert(sources_.end(), before.above.begin(), before.above.end());
    base = add(without(base, found.blocking.kernel), once);
    const auto response = least_response(base, sources_, mine.deadline, 1);
    if (!response || (found.response && *found.response <= *response))
        return;
    found.response = response;
    found.blocking.kernel = once;
    for (std::size_t n = others; n < sources_.size(); n++)
        found.blocking.kernel =
            add(found.blocking.kernel,
                multiply(divide_up(add(*response, sources_[n].jitter), sources_[n].period),
                         sources_[n].demand));
    found.preemption = *response - add(add(mine.cpu, mine.segments()), found.blocking.sum());
}

Time Analysis::inversion(std::span<const std::size_t> members, std::size_t at) const {
    const Numbers &mine = model_[members[at]];
    if (options_.method == Method::server)
        return 0;
    Time sum = 0, longest = 0;
    for (const std::size_t task : members.subspan(at + 1)) {
        const Numbers &lower = model_[task];
        const Waits &waits = waits_[task];
        if (!lower.uses_gpu())
            continue;
        if (options_.busy) {
            sum = add(sum, lower.longest_segment);
            longest = std::max(longest, add(lower.longest_segment,
                                            add(multiply(2, waits.each_copy), waits.each_kernel)));
        } else if (options_.printed.one_copy) {
            sum = add(sum, lower.longest_copy);
        } else {
            sum = add(sum, lower.longest_copies);
            if (spins_)
                sum = add(sum, multiply(2, other_core_copies(task)));
        }
    }
    if (options_.busy)
        return options_.printed.no_waiting ? sum : longest;
    return multiply(options_.printed.cpu_segments ? mine.cpu_segments : mine.phases, sum);
}

/// What the server does on its own core for others than the task.
void Analysis::add_server(std::size_t task, std::vector<Source> &sources) const {
    if (options_.method != Method::server || model_[task].core != options_.server_core)
        return;
    for (std::size_t other = 0; other < model_.size(); other++) {
        const Numbers &one = model_[other];
        if (other == task || !one.uses_gpu())
            continue;
        const Time demand = add(server_spins_ ? one.segments() : one.copies,
                                multiply(2 * one.gpu_segments, options_.server_overhead));
        sources.push_back({demand, one.period, std::max(Time{0}, one.deadline - demand)});
    }
}

Bound Analysis::bound(std::span<const std::size_t> members, std::size_t at) {
    const std::size_t task = members[at];
    const Numbers &mine = model_[task];
    const Waits &waits = waits_[task];
    Bound found{.response = std::nullopt,
                .blocking = {waits.copies, waits.kernels, inversion(members, at)}};
    const Time base = add(add(mine.cpu, mine.segments()), found.blocking.sum());
    bool none = false;
    sources_.clear();
    for (const std::size_t above : members.first(at)) {
        const Numbers &one = model_[above];
        Source source{waits_[above].demand, one.period, 0};
        if (options_.busy) {
            if (options_.printed.own_blocking)
                source.demand = add(add(one.cpu, one.segments()), found.blocking.sum());
        } else {
            none |= !response_[above];
            source.jitter =
                std::max(Time{0}, response_[above].value_or(one.deadline) - source.demand);
        }
        sources_.push_back(source);
    }
    Time last = 0;
    add_server(task, sources_);
    // A GPU segment begins when the job has the core, even if it takes no time; a CPU segment of no
    // length ends at once.
    const bool dispatched = mine.uses_gpu() && options_.method != Method::printed;
    const auto response = least_response(base, sources_, mine.deadline, dispatched ? 1 : 0, &last);
    found.preemption = without(response.value_or(last), base);
    if (!waits.none)
        found.response = response;
    // Of tasks that spin, the demand on others has the waits of each request.
    if (locks_ && options_.method != Method::fmlp && !options_.busy && mine.uses_gpu() &&
        base != endless)
        count_over_job(task, base, found);
    if (none)
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

/// Counts of others' requests hold as long as those meet their deadlines: without a bound for one
/// that is counted, there is none.
void Analysis::withdraw_unproven(std::vector<Bound> &bounds) const {
    if (options_.method != Method::mpcp && options_.method != Method::server)
        return;
    const auto counts = [&](std::size_t task, std::size_t other) {
        const Numbers &mine = model_[task], &one = model_[other];
        if (options_.busy)
            return one.uses_gpu() && bounds[task].blocking.sum() + bounds[task].preemption > 0;
        if (one.uses_gpu() && options_.method == Method::server &&
            mine.core == options_.server_core)
            return true;
        return one.above(mine) && (one.core == mine.core || (one.uses_gpu() && mine.uses_gpu()));
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t task = 0; task < bounds.size(); task++)
            for (std::size_t other = 0; bounds[task].response && other < bounds.size(); other++)
                if (other != task && !bounds[other].response && counts(task, other)) {
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
