/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Submits runlists. All functions are called with gpu->lock held, since up to
 * Volta all runlists share one port. A driver may submit at the same time; it
 * has no lock to take.
 */
#ifndef NVDEBUG_SUBMIT_H
#define NVDEBUG_SUBMIT_H

#include <linux/types.h>

struct nvdebug_gpu;
struct nvdebug_runlist;
struct nvdebug_runlist_location;

/*
 * Read the location of the list until two reads agree, else return -EBUSY:
 * memory is written and freed, and lists are submitted, depending on the
 * location. -ENOTRECOVERABLE after nvdebug_submit_give_up(); functions that
 * call this one return that, too.
 */
int __must_check nvdebug_submit_locate(struct nvdebug_gpu *gpu,
				       const struct nvdebug_runlist *runlist,
				       struct nvdebug_runlist_location *loc);

/* Wait until Host has taken the submitted list, and read its location. */
int __must_check nvdebug_submit_settle(struct nvdebug_gpu *gpu,
				       const struct nvdebug_runlist *runlist,
				       struct nvdebug_runlist_location *loc);

/* Wait for Host in the same way, but not interruptibly. */
int __must_check
nvdebug_submit_settle_undo(struct nvdebug_gpu *gpu,
			   const struct nvdebug_runlist *runlist,
			   struct nvdebug_runlist_location *loc);

/*
 * Submit the list at @loc in place of the list at @expected, without waiting.
 * -ERANGE if the registers cannot hold its address; -EBUSY if another list is
 * current or was submitted, or a driver writes the registers concurrently.
 * Nothing is submitted on error, and the previous address is restored; if that
 * cannot be verified, the controls are given up.
 */
int __must_check
nvdebug_submit(struct nvdebug_gpu *gpu, const struct nvdebug_runlist *runlist,
	       const struct nvdebug_runlist_location *loc,
	       const struct nvdebug_runlist_location *expected);

/*
 * Report that a list's address may be in the registers of @runlist although the
 * list was not submitted, and make all controls of the GPU fail from now on. A
 * later submit could use that address, and it is unknown whether Host uses it.
 */
void nvdebug_submit_give_up(struct nvdebug_gpu *gpu,
			    const struct nvdebug_runlist *runlist, int error);

/* Submit the current list again and wait until Host has taken it. */
int __must_check nvdebug_submit_again(struct nvdebug_gpu *gpu,
				      const struct nvdebug_runlist *runlist);

#endif
