/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The scheduling gate of a runlist, and taking what runs off its engines. All
 * of it with gpu->lock held.
 */
#ifndef NVDEBUG_PREEMPT_H
#define NVDEBUG_PREEMPT_H

#include <linux/types.h>

struct nvdebug_gpu;
struct nvdebug_runlist;

/* May Host take anything further from the runlist? */
int __must_check nvdebug_gate_read(struct nvdebug_gpu *gpu,
				   const struct nvdebug_runlist *runlist,
				   bool *open);
/* -EIO if the gate does not follow. @was may be NULL. */
int __must_check nvdebug_gate_set(struct nvdebug_gpu *gpu,
				  const struct nvdebug_runlist *runlist,
				  bool open, bool *was);

/*
 * Take a TSG off the PBDMAs and engines of its runlist. The gate is as before
 * afterwards, whatever happens.
 */
int __must_check nvdebug_preempt_tsg(struct nvdebug_gpu *gpu,
				     const struct nvdebug_runlist *runlist,
				     u32 tsg);

/* Take off whatever runs from the runlist; Host then goes on with the list. */
int __must_check nvdebug_preempt_runlist(struct nvdebug_gpu *gpu,
					 const struct nvdebug_runlist *runlist);

#endif
