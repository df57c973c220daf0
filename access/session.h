/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What is behind struct nvdebug_mem: for the ways to memory only.
 */
#ifndef NVDEBUG_SESSION_H
#define NVDEBUG_SESSION_H

#include "access/bar.h"
#include "access/memory.h"
#include "access/pramin.h"
#include "access/table_cache.h"

struct nvdebug_mem {
	struct nvdebug_gpu *gpu;
	struct nvdebug_table_cache tables;
	u32 mmu_ctrl;
	bool mmu_ctrl_known;
	struct nvdebug_pramin pramin;
	struct nvdebug_bars bars;
	bool alive;	/* the GPU, after the last that came over the bus */
};

#endif
