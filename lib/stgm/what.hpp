// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What happens in a schedule.
#pragma once

namespace stgm {

enum class What {
    release,
    run,           ///< has the CPU of its core from now on, to compute, to copy or to spin
    stop,          ///< … no more
    segment_begin, ///< of a GPU segment: the priority is boosted
    segment_end,
    copy_ask, ///< asks for the copy engine
    copy_begin,
    copy_end,
    launch,
    kernel_begin,
    kernel_end,
    finish,
    // Of tasks that run, for which the times in the file are what is to be held.
    overrun, ///< work took longer than in the file
    stall,   ///< the process was kept from its CPU until now
};

} // namespace stgm
