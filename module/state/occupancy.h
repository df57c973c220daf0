/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Looks for contexts on the PBDMAs and engines of a runlist. */
#ifndef NVDEBUG_OCCUPANCY_H
#define NVDEBUG_OCCUPANCY_H

#include <linux/types.h>

#include "decode/occupied.h"

struct nvdebug_gpu;
struct nvdebug_runlist;

/*
 * Return 1 if a TSG or channel that @match accepts is on a PBDMA or an engine
 * of the runlist, or about to be loaded; else 0 or an error.
 */
int __must_check
nvdebug_runlist_occupied(struct nvdebug_gpu *gpu,
			 const struct nvdebug_runlist *runlist,
			 nvdebug_match_fn match, const void *data);

#endif
