/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Read whether MIG or confidential computing is on.
 */
#ifndef NVDEBUG_PROBE_MODES_H
#define NVDEBUG_PROBE_MODES_H

#include "core/modes.h"

struct nvdebug_gpu;

const char *nvdebug_mode_name(enum nvdebug_mode mode);
/* Read the modes. Returns why the GPU must not be accessed, or NULL. */
const char *nvdebug_modes_read(struct nvdebug_gpu *gpu,
			       struct nvdebug_modes *modes);

#endif
