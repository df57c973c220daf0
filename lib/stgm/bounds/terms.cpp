// SPDX-License-Identifier: MIT OR GPL-2.0
#include "terms.hpp"

#include <algorithm>

namespace stgm {

void Terms::sum_copies() {
    all_copies = 0;
    copy_of_core.assign(model.cores(), 0);
    copies_of_cores = 0;
    for (const Numbers &task : model.tasks()) {
        all_copies = add(all_copies, task.longest_copy);
        if (task.core != no_core)
            copy_of_core[task.core] = std::max(copy_of_core[task.core], task.longest_copy);
        else
            copies_of_cores = add(copies_of_cores, task.longest_copy);
    }
    for (const Time longest : copy_of_core)
        copies_of_cores = add(copies_of_cores, longest);
}

/// Eq. 1, 3 and 4 with copies that spin: R, one m* of each other core.
Time Terms::copies_of_other_cores(std::size_t task) const {
    const Numbers &mine = model[task];
    return without(copies_of_cores,
                   mine.core == no_core ? mine.longest_copy : copy_of_core[mine.core]);
}

/// Eq. 1: C + G^m, and 2ηR with copies that spin. Eq. 9, mended: C + G + B^m + B^e of that task.
Time Terms::demand(std::size_t task, const Waits &waits) const {
    const Numbers &mine = model[task];
    if (options.busy)
        return add(add(mine.cpu, mine.segments()), add(waits.copies, waits.kernels));
    const Time demand = add(mine.cpu, mine.copies);
    return spins ? add(demand, multiply(2 * mine.gpu_segments, copies_of_other_cores(task)))
                 : demand;
}

} // namespace stgm
