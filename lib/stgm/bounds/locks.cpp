// SPDX-License-Identifier: MIT OR GPL-2.0
// One lock for the whole GPU. B^e is the wait for the lock; B^m is 0, as no other task copies while
// a task holds it.
#include <algorithm>

#include "systems.hpp"

namespace stgm {

Waits Lock::waits(std::size_t task) const {
    Waits waits;
    if (model()[task].uses_gpu()) {
        wait_for_request(task, waits);
        waits.kernels = multiply(model()[task].gpu_segments, waits.each_kernel);
    }
    waits.demand = terms().demand(task, waits);
    return waits;
}

/// Sums one longest segment of each other task; of busy tasks, one of each other core, as a task
/// that spins for the lock keeps the other tasks of its core from requesting it.
void FifoLock::wait_for_request(std::size_t task, Waits &waits) const {
    const bool busy = options().busy;
    Time sum = 0;
    std::vector<Time> of_core(busy ? model().cores() : 0);
    for (std::size_t other = 0; other < model().size(); other++) {
        const Numbers &one = model()[other];
        if (other == task || !one.uses_gpu())
            continue;
        if (!busy || one.core == no_core)
            sum = add(sum, one.longest_segment);
        else if (one.core != model()[task].core)
            of_core[one.core] = std::max(of_core[one.core], one.longest_segment);
    }
    for (const Time longest : of_core)
        sum = add(sum, longest);
    waits.each_kernel = sum;
}

PriorityLock::Requests PriorityLock::requests_before(std::size_t task) const {
    const Numbers &mine = model()[task];
    Requests found;
    for (std::size_t other = 0; other < model().size(); other++) {
        const Numbers &one = model()[other];
        if (other == task || !one.uses_gpu())
            continue;
        // A task that spins for the lock keeps the other tasks of its core from requesting it.
        if (options().busy && one.core == mine.core && one.core != no_core)
            continue;
        if (one.above(mine))
            // A job that was released up to a deadline earlier may still request the lock for all
            // of its segments.
            found.above.push_back({add(one.segments(), multiply(one.gpu_segments, overhead_)),
                                   one.period, one.deadline});
        else
            found.begun = std::max(found.begun, add(one.longest_segment, overhead_));
    }
    return found;
}

/// Bounds the wait of one request: a segment of lower priority that has begun, and the segments of
/// higher priority that come while the request waits, ⌈(wait + D)/T⌉ jobs of each task.
void PriorityLock::wait_for_request(std::size_t task, Waits &waits) const {
    const Requests before = requests_before(task);
    Time last = 0;
    const auto wait = least_response(before.begun, before.above, model()[task].deadline, 0, &last);
    waits.none = !wait;
    waits.each_kernel = wait.value_or(last);
}

/// Bounds the waits of all requests of a job together: the segments of higher priority that come
/// during the whole response. It is not used where tasks are busy, because their demand on the core
/// has the wait of each request.
void PriorityLock::improve(std::size_t task, Time base, std::vector<Source> &sources,
                           Bound &found) const {
    const Numbers &mine = model()[task];
    if (options().busy || !mine.uses_gpu() || base == endless)
        return;
    const Requests before = requests_before(task);
    const Time requests = mine.gpu_segments;
    const Time once = add(multiply(requests, before.begun), multiply(2 * requests, overhead_));
    const std::size_t others = sources.size();
    sources.insert(sources.end(), before.above.begin(), before.above.end());
    base = add(without(base, found.blocking.kernel), once);
    const auto response = least_response(base, sources, mine.deadline, 1);
    if (!response || (found.response && *found.response <= *response))
        return;
    found.response = response;
    found.blocking.kernel = once;
    for (std::size_t n = others; n < sources.size(); n++)
        found.blocking.kernel =
            add(found.blocking.kernel,
                multiply(divide_up(add(*response, sources[n].jitter), sources[n].period),
                         sources[n].demand));
    found.preemption = *response - add(add(mine.cpu, mine.segments()), found.blocking.sum());
}

bool PriorityLock::counts(std::size_t task, std::size_t other, const Bound &bound) const {
    const Numbers &mine = model()[task], &one = model()[other];
    if (options().busy)
        return one.uses_gpu() && bound.blocking.sum() + bound.preemption > 0;
    return one.above(mine) && (one.core == mine.core || (one.uses_gpu() && mine.uses_gpu()));
}

} // namespace stgm
