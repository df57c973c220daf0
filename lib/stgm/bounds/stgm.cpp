// SPDX-License-Identifier: MIT OR GPL-2.0
// STGM's equations: the mended forms, and with Options::printed the paper's own.
#include <algorithm>

#include "systems.hpp"

namespace stgm {

/// Eq. 7 and 8, mended: for each phase at the base priority, the sum over all tasks of lower
/// priority of both copies of a segment; with copies that spin, 2R besides. Eq. 11 and 12, mended:
/// the longest segment of one such task, with its waits. These hold for locks, too, where a copy
/// does not wait and a kernel's wait is that for the lock.
Time System::inversion(std::span<const std::size_t> members, std::size_t at,
                       std::span<const Waits> waits) const {
    const Numbers &mine = model()[members[at]];
    const Printed &printed = options().printed;
    Time sum = 0, longest = 0;
    for (const std::size_t task : members.subspan(at + 1)) {
        const Numbers &lower = model()[task];
        if (!lower.uses_gpu())
            continue;
        if (options().busy) {
            sum = add(sum, lower.longest_segment);
            longest =
                std::max(longest, add(lower.longest_segment, add(multiply(2, waits[task].each_copy),
                                                                 waits[task].each_kernel)));
        } else if (printed.one_copy) {
            sum = add(sum, lower.longest_copy);
        } else {
            sum = add(sum, lower.longest_copies);
            if (terms().spins)
                sum = add(sum, multiply(2, terms().copies_of_other_cores(task)));
        }
    }
    if (options().busy)
        return printed.no_waiting ? sum : longest;
    return multiply(printed.cpu_segments ? mine.cpu_segments : mine.phases, sum);
}

void Stgm::share_kernels() {
    const Sharing sharing(model());
    for (std::size_t task = 0; task < model().size(); task++)
        if (model()[task].uses_gpu())
            kernel_waits_[task] = each_kernel_wait(sharing, task);
}

void Stgm::sms_changed() {
    share_kernels();
}

Waits Stgm::waits(std::size_t task) const {
    Waits waits;
    if (model()[task].uses_gpu()) {
        wait_for_copies(task, waits);
        wait_for_kernels(task, waits);
    }
    waits.demand = terms().demand(task, waits);
    return waits;
}

/// Eq. 3 and 4: 2η Σ m*. With copies that spin: η (2R + Σ on the core (m* + R)).
void Stgm::wait_for_copies(std::size_t task, Waits &waits) const {
    const Numbers &mine = model()[task];
    waits.each_copy = each_copy_wait(task);
    waits.copies = multiply(2 * mine.gpu_segments, waits.each_copy);
    if (!terms().spins)
        return;
    const Time others = terms().copies_of_other_cores(task);
    Time wait = multiply(2, others);
    for (std::size_t other = 0; other < model().size(); other++)
        if (other != task && model()[other].uses_gpu() && model()[other].core == mine.core &&
            mine.core != no_core)
            wait = add(wait, add(model()[other].longest_copy, others));
    waits.copies = multiply(mine.gpu_segments, wait);
}

/// Eq. 3 and 4 for one copy: Σ m* of all other tasks.
Time Stgm::each_copy_wait(std::size_t task) const {
    return without(terms().all_copies, model()[task].longest_copy);
}

/// Eq. 5 and 6 for one kernel, mended: Σ e* of all tasks that are connected by shared SMs.
Time Stgm::each_kernel_wait(const Sharing &sharing, std::size_t task) const {
    return options().printed.direct_sharing ? sharing.direct(task) : sharing.component(task);
}

/// Eq. 5 and 6: the same wait for each of the η segments.
void Stgm::wait_for_kernels(std::size_t task, Waits &waits) const {
    waits.each_kernel = kernel_waits_[task];
    waits.kernels = multiply(model()[task].gpu_segments, waits.each_kernel);
}

void TightStgm::sms_changed() {
    if (!options().busy)
        share_kernels();
}

void TightStgm::cores_changed() {
    if (options().busy)
        share_kernels();
}

/// Eq. 3 and 4, tighter: a core of busy tasks has one copy under way, so R is enough.
Time TightStgm::each_copy_wait(std::size_t task) const {
    return options().busy ? terms().copies_of_other_cores(task) : Stgm::each_copy_wait(task);
}

/// Eq. 5 and 6, tighter: the heaviest simple path; of busy tasks, one kernel of each other core.
Time TightStgm::each_kernel_wait(const Sharing &sharing, std::size_t task) const {
    return options().busy ? sharing.one_per_core(task) : sharing.path(task);
}

} // namespace stgm
