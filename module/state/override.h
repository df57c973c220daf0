/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Override lists: runlists in memory of the module that replace the driver's.
 * Created and installed by host/override_list.c.
 */
#ifndef NVDEBUG_STATE_OVERRIDE_H
#define NVDEBUG_STATE_OVERRIDE_H

#include <linux/list.h>
#include <linux/types.h>

#include "core/machine.h"
#include "decode/runlist.h"

struct nvdebug_gpu;
struct nvdebug_list_memory;
struct nvdebug_runlist;

struct nvdebug_override {
	struct list_head node;	/* in gpu->overrides, once it is submitted */
	u64 number;		/* unique, never reused */
	const struct nvdebug_runlist *runlist;
	struct nvdebug_runlist_location own;
	struct nvdebug_runlist_location original;	/* driver's list */
	struct nvdebug_list_memory *memory;
};

/* Return the override list that is at @loc, or NULL. Called under gpu->lock. */
struct nvdebug_override *
nvdebug_override_at(struct nvdebug_gpu *gpu,
		    const struct nvdebug_runlist *runlist,
		    const struct nvdebug_runlist_location *loc);

/*
 * If @loc, the current list of @runlist, is an override list, set @loc to the
 * driver's list that it replaced. Called under gpu->lock.
 */
void nvdebug_override_original(struct nvdebug_gpu *gpu,
			       const struct nvdebug_runlist *runlist,
			       struct nvdebug_runlist_location *loc);

#endif
