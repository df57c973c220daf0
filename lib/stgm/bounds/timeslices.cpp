// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>

#include "systems.hpp"

namespace stgm {

TimeSlices::TimeSlices(const Terms &terms) : Stgm(terms), round_(0) {
    Time users = 0;
    for (const Numbers &task : model().tasks())
        users += task.uses_gpu();
    if (users > 1)
        round_ = add(multiply(users - 1, add(options().timeslice, options().turn_extra)),
                     multiply(users, options().turn_switch));
}

/// B^e: a round of the others' turns before each of the ⌈e/timeslice⌉ turns of a kernel.
void TimeSlices::wait_for_kernels(std::size_t task, Waits &waits) const {
    const Numbers &mine = model()[task];
    for (const Segment *const segment : mine.gpu) {
        const Time wait =
            multiply(divide_up(segment->kernel_on(mine.sm_count), options().timeslice), round_);
        waits.each_kernel = std::max(waits.each_kernel, wait);
        waits.kernels = add(waits.kernels, wait);
    }
}

} // namespace stgm
