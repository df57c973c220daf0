/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Runlists of the module's own, in system memory, in place of a driver's. Host
 * reads a list again and again, so that the memory stays until the list in
 * force is another one. All but the last with gpu->lock held.
 */
#ifndef NVDEBUG_OWN_LIST_H
#define NVDEBUG_OWN_LIST_H

#include <linux/types.h>

#include "host/await.h"

struct nvdebug_gpu;
struct nvdebug_own_list;
struct nvdebug_runlist;
struct nvdebug_runlist_location;

/*
 * Make a list of @entries from @words. -EOPNOTSUPP where that cannot be: the
 * GPU is user space's (vfio), or the address is beyond what it can be told, or
 * does not lead to the list. Turns bus mastering on if nobody has.
 */
struct nvdebug_own_list *
nvdebug_own_list_make(struct nvdebug_gpu *gpu,
		      const struct nvdebug_runlist *runlist, const u32 *words,
		      u32 entries);
/* No other list of this GPU ever has the same number. */
u64 nvdebug_own_list_number(const struct nvdebug_own_list *list);
/* Of one that was never put in force. */
void nvdebug_own_list_free(struct nvdebug_gpu *gpu,
			   struct nvdebug_own_list *list);

/*
 * Put it in force in place of @now, the list that is there, and wait until
 * @settled says that the change is complete. On failure everything is put back,
 * and @list is no longer the caller's. -EBUSY: a driver submitted its own.
 */
int __must_check
nvdebug_own_list_enforce(struct nvdebug_gpu *gpu, struct nvdebug_own_list *list,
			 const struct nvdebug_runlist_location *now,
			 nvdebug_done_fn settled, const void *what);

/*
 * If @loc, where the list of @runlist is now, is one of ours, tell where the
 * driver's is that it replaced.
 */
void nvdebug_own_list_look_beneath(struct nvdebug_gpu *gpu,
				   const struct nvdebug_runlist *runlist,
				   struct nvdebug_runlist_location *loc);

/* Submit the driver's list, also if ours is in force, which then goes. */
int __must_check nvdebug_own_list_resubmit(struct nvdebug_gpu *gpu,
					   const struct nvdebug_runlist *runlist);

/*
 * Submit the driver's list if the one of that number is still in force, whatever
 * happens meanwhile. Returns 1 if it was, 0 if not, or an error.
 */
int __must_check nvdebug_own_list_undo(struct nvdebug_gpu *gpu, u64 number);

/*
 * Put everything back: the GPU goes, or gets or loses a driver, by which its
 * addresses may come to mean something else. With the device's lock held, or
 * when nobody can use the GPU's files any more, so that no list is made. What
 * is not @awake reads no list, and will be told of one when it wakes up.
 */
void nvdebug_own_lists_retire(struct nvdebug_gpu *gpu, bool awake);

#endif
