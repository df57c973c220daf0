/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Override lists (see state/override.h): making, installing and removing them.
 * Host reads a list again and again, so that the memory stays until the list
 * in force is another one. All but the last function under gpu->lock.
 */
#ifndef NVDEBUG_HOST_OVERRIDE_LIST_H
#define NVDEBUG_HOST_OVERRIDE_LIST_H

#include <linux/types.h>

#include "host/await.h"

struct nvdebug_gpu;
struct nvdebug_override;
struct nvdebug_runlist;
struct nvdebug_runlist_location;

/*
 * Make a list of @entries from @words. Errors are those of
 * nvdebug_list_memory_alloc().
 */
struct nvdebug_override *
nvdebug_override_make(struct nvdebug_gpu *gpu,
		      const struct nvdebug_runlist *runlist, const u32 *words,
		      u32 entries);

/*
 * Put it in force in place of @now, the list that is there, and wait until
 * @settled says that the change is complete. On failure everything is put back,
 * and @list is no longer the caller's. -EBUSY: a driver submitted its own.
 */
int __must_check
nvdebug_override_install(struct nvdebug_gpu *gpu, struct nvdebug_override *list,
			 const struct nvdebug_runlist_location *now,
			 nvdebug_done_fn settled, const void *what);

/* Submit the driver's list, also if ours is in force, which then goes. */
int __must_check nvdebug_override_resubmit(struct nvdebug_gpu *gpu,
					   const struct nvdebug_runlist *runlist);

/*
 * Submit the driver's list if the one of that number is still in force, whatever
 * happens meanwhile. Returns 1 if it was, 0 if not, or an error.
 */
int __must_check nvdebug_override_undo(struct nvdebug_gpu *gpu, u64 number);

/*
 * Put everything back: the GPU goes, or gets or loses a driver, by which its
 * addresses may come to mean something else. With the device's lock held, or
 * when nobody can use the GPU's files any more, so that no list is made. What
 * is not @awake reads no list, and will be told of one when it wakes up.
 */
void nvdebug_overrides_retire(struct nvdebug_gpu *gpu, bool awake);

#endif
