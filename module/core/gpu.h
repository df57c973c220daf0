/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * State of a GPU, without the means to access it, see core/machine.h.
 */
#ifndef NVDEBUG_CORE_GPU_H
#define NVDEBUG_CORE_GPU_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>

#include "core/geometry.h"
#include "core/modes.h"
#include "core/topology.h"
#include "decode/chip_id.h"

struct nvdebug_chip;

enum nvdebug_feature {
	NVDEBUG_FEATURE_DEVICE_INFO,
	NVDEBUG_FEATURE_RUNLIST,
	NVDEBUG_FEATURE_CHANNEL_CONTROL,
	NVDEBUG_FEATURE_COPY_TOPOLOGY,
	NVDEBUG_FEATURE_ENGINES,
	NVDEBUG_FEATURE_CONTEXTS,
	NVDEBUG_FEATURE_CONTEXT_STATE,
	NVDEBUG_FEATURE_RUNLIST_CONTROL,
	NVDEBUG_FEATURE_GPC_TOPOLOGY,
	NVDEBUG_FEATURE_WORK_DISTRIBUTOR,
	NVDEBUG_FEATURE_PREEMPTION_MODE,
	NVDEBUG_FEATURES
};

struct nvdebug_gpu {
	/*
	 * Serialises multi-access sequences on shared hardware state: changes
	 * to channels and runlists, late runlist set-up.
	 */
	struct mutex lock;
	struct list_head overrides;	/* under lock, see state/override.h */
	u64 overrides_made;		/* under lock: total count */
	/* Set under lock, for good: see nvdebug_submit_give_up(). */
	bool uncontrollable;
	struct mutex leases_end_lock;	/* one nvdebug_leases_end_all() at a time */
	struct mutex leases_lock;	/* innermost: nothing waits under it */
	struct list_head leases;	/* under leases_lock, see control/lease.h */
	/* The last turn of nvdebug_leases_end_all(). */
	u32 leases_turn;

	/* Set by probe/, constant until the GPU is probed again. */
	struct nvdebug_chip_id id;
	const struct nvdebug_chip *chip;	/* NULL: identity only */
	const char *chip_name;			/* NULL: unknown */
	const char *generation;			/* NULL: unknown */
	const char *missing[NVDEBUG_FEATURES];	/* reason, NULL: available */
	/* The reason why only info exists, or NULL. */
	const char *unsupported;
	struct nvdebug_modes modes;		/* when last read */
	struct nvdebug_topology topology;
	u32 pce_map;
	struct nvdebug_geometry geometry;
	u64 video_memory;			/* bytes, 0: unknown */
	/* Registers that did not answer, but may after a driver's set-up. */
	u32 gaps;
};

void nvdebug_gpu_init(struct nvdebug_gpu *gpu);
void nvdebug_gpu_destroy(struct nvdebug_gpu *gpu);

#endif
