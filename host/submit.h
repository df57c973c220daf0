/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Submitting runlists. All of it with gpu->lock held: up to Volta one port
 * serves all runlists. That a driver does the same cannot be kept out.
 */
#ifndef NVDEBUG_SUBMIT_H
#define NVDEBUG_SUBMIT_H

#include <linux/types.h>

struct nvdebug_gpu;
struct nvdebug_runlist;
struct nvdebug_runlist_location;

/*
 * Where the list is. Memory is written and given back by it, and lists are
 * submitted by it, so what was read just once does not do: -EBUSY if no two
 * looks agree.
 */
int __must_check nvdebug_submit_look(struct nvdebug_gpu *gpu,
				     const struct nvdebug_runlist *runlist,
				     struct nvdebug_runlist_location *loc);

/* Wait until Host has taken what was submitted, and tell where that is. */
int __must_check nvdebug_submit_settle(struct nvdebug_gpu *gpu,
				       const struct nvdebug_runlist *runlist,
				       struct nvdebug_runlist_location *loc);

/* The same for a list that is put back: heeds no signals. */
int __must_check
nvdebug_submit_settle_undo(struct nvdebug_gpu *gpu,
			   const struct nvdebug_runlist *runlist,
			   struct nvdebug_runlist_location *loc);

/*
 * Submit the list at @loc, and do not wait. -ERANGE if the registers cannot
 * hold its address, -EBUSY if a driver was about to submit one; in any case of
 * error nothing was submitted.
 */
int __must_check nvdebug_submit(struct nvdebug_gpu *gpu,
				const struct nvdebug_runlist *runlist,
				const struct nvdebug_runlist_location *loc);

/* Submit the list that is in force once more, and wait until it is taken. */
int __must_check nvdebug_submit_again(struct nvdebug_gpu *gpu,
				      const struct nvdebug_runlist *runlist);

#endif
