// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The events of a schedule.
#pragma once

namespace stgm {

enum class What {
    release,
    run,           ///< the task has its core from now on, to compute, to copy or to spin
    stop,          ///< the task has its core no more
    segment_begin, ///< a GPU segment begins, and the priority is boosted
    segment_end,
    copy_ask, ///< the task asks for the copy engine
    copy_begin,
    copy_end,
    launch,
    kernel_begin,
    kernel_end,
    finish,
    // Events of `nvstgm run` only, where tasks can break the times in the file.
    overrun, ///< work took longer than in the file
    stall,   ///< the process was kept from its CPU until now
};

} // namespace stgm
