/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Modes in which a GPU is not what the other files take it for: partitioned
 * (MIG), or closed to the CPU (confidential computing).
 */
#ifndef NVDEBUG_PROBE_MODES_H
#define NVDEBUG_PROBE_MODES_H

#include "core/modes.h"

struct nvdebug_gpu;

const char *nvdebug_mode_name(enum nvdebug_mode mode);
/* Read those of gpu->chip. Returns why the GPU is to be left alone, or NULL. */
const char *nvdebug_modes_read(struct nvdebug_gpu *gpu,
			       struct nvdebug_modes *modes);

#endif
