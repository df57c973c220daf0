/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Enables or disables scheduling of a runlist (the gate, SCHED_DISABLE), and
 * preempts TSGs and runlists. All functions are called with gpu->lock held.
 */
#ifndef NVDEBUG_PREEMPT_H
#define NVDEBUG_PREEMPT_H

#include <linux/types.h>

struct nvdebug_gpu;
struct nvdebug_runlist;

/* Read whether scheduling of the runlist is enabled. */
int __must_check nvdebug_gate_read(struct nvdebug_gpu *gpu,
				   const struct nvdebug_runlist *runlist,
				   bool *open);
/*
 * Open or close the gate. Returns -EIO if the register does not change. @was is
 * set to the previous state, and may be NULL.
 */
int __must_check nvdebug_gate_set(struct nvdebug_gpu *gpu,
				  const struct nvdebug_runlist *runlist,
				  bool open, bool *was);

/*
 * Preempt a TSG: wait until it is off the PBDMAs and engines of its runlist.
 * The gate is restored in any case.
 */
int __must_check nvdebug_preempt_tsg(struct nvdebug_gpu *gpu,
				     const struct nvdebug_runlist *runlist,
				     u32 tsg);

/*
 * Preempt the work of the runlist that is running; Host then continues
 * scheduling.
 */
int __must_check nvdebug_preempt_runlist(struct nvdebug_gpu *gpu,
					 const struct nvdebug_runlist *runlist);

#endif
