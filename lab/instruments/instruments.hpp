// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file The instruments. Each prints one JSON object on stdout. */
#ifndef NVDEBUG_LAB_INSTRUMENTS_HPP
#define NVDEBUG_LAB_INSTRUMENTS_HPP

#include "options.hpp"

namespace lab {

void exec(Options &options);    ///< when and where blocks execute
void streams(Options &options); ///< kernels in several streams: when and where each runs
void work(Options &options);    ///< kernels of a fixed amount of work: how long each takes
void operations(
    Options &options);           ///< operations of one kind, one after the other: when each is over
void launches(Options &options); ///< queues kernels: how long each launch takes
void progress(Options &options); ///< when copies to the host make progress, also beside kernels
void copies(Options &options);   ///< copies, one after the other: how long each takes
void behind(Options &options);   ///< small copies behind large ones of the same process
void flood(
    Options &options); ///< one kernel of a fixed amount of work: how much of it was done when
void textures(Options &options); ///< texture uploads by OpenGL: how long each takes
void buffers(Options &options);  ///< copies by Vulkan on the graphics queue: how long each takes

} // namespace lab

#endif
