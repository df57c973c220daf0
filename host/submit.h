/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Submit runlists. All with gpu->lock held, since up to Volta all runlists
 * share one port. A driver may submit at the same time; it has no lock to take.
 */
#ifndef NVDEBUG_SUBMIT_H
#define NVDEBUG_SUBMIT_H

#include <linux/types.h>

struct nvdebug_gpu;
struct nvdebug_runlist;
struct nvdebug_runlist_location;

/*
 * Read the location of the list until two reads agree, else -EBUSY: memory is
 * written and freed, and lists are submitted, depending on it.
 */
int __must_check nvdebug_submit_locate(struct nvdebug_gpu *gpu,
				       const struct nvdebug_runlist *runlist,
				       struct nvdebug_runlist_location *loc);

/* Wait until Host has taken the submitted list, and read its location. */
int __must_check nvdebug_submit_settle(struct nvdebug_gpu *gpu,
				       const struct nvdebug_runlist *runlist,
				       struct nvdebug_runlist_location *loc);

/* The same, not interruptible. */
int __must_check
nvdebug_submit_settle_undo(struct nvdebug_gpu *gpu,
			   const struct nvdebug_runlist *runlist,
			   struct nvdebug_runlist_location *loc);

/*
 * Submit the list at @loc in place of the one at @expected, without waiting.
 * -ERANGE if the registers cannot hold its address; -EBUSY if another list is
 * current or was submitted, or a driver writes the registers concurrently.
 * Nothing is submitted on error.
 */
int __must_check
nvdebug_submit(struct nvdebug_gpu *gpu, const struct nvdebug_runlist *runlist,
	       const struct nvdebug_runlist_location *loc,
	       const struct nvdebug_runlist_location *expected);

/*
 * The address of the list at @loc was written, but the list not submitted; the
 * registers then read as @expected. If they still do, write the address of the
 * list at @was, which Host still reads.
 */
void nvdebug_submit_withdraw(struct nvdebug_gpu *gpu,
			     const struct nvdebug_runlist *runlist,
			     const struct nvdebug_runlist_location *loc,
			     const struct nvdebug_runlist_location *was,
			     const struct nvdebug_runlist_location *expected);

/* Submit the current list again and wait until Host has taken it. */
int __must_check nvdebug_submit_again(struct nvdebug_gpu *gpu,
				      const struct nvdebug_runlist *runlist);

#endif
