/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Override lists (see state/override.h): create, install, remove. Host rereads
 * the current list at any time, so its memory is kept until another list is
 * current. All but the last two functions under gpu->lock.
 */
#ifndef NVDEBUG_HOST_OVERRIDE_LIST_H
#define NVDEBUG_HOST_OVERRIDE_LIST_H

#include <linux/types.h>

#include "host/await.h"

struct nvdebug_gpu;
struct nvdebug_override;
struct nvdebug_runlist;
struct nvdebug_runlist_location;

/* Create a list of @entries. Errors as nvdebug_list_memory_alloc(). */
struct nvdebug_override *
nvdebug_override_make(struct nvdebug_gpu *gpu,
		      const struct nvdebug_runlist *runlist, const u32 *words,
		      u32 entries);

/*
 * Submit @list in place of the current list @now and poll @settled until the
 * switch is complete. Consumes @list. On failure @now is restored. -EBUSY: the
 * driver submitted another list.
 */
int __must_check
nvdebug_override_install(struct nvdebug_gpu *gpu, struct nvdebug_override *list,
			 const struct nvdebug_runlist_location *now,
			 nvdebug_done_fn settled, const void *what);

/* Submit the driver's list, in place of an override list if one is current. */
int __must_check nvdebug_override_resubmit(struct nvdebug_gpu *gpu,
					   const struct nvdebug_runlist *runlist);

/*
 * Submit the driver's list if override list @number is still current. Not
 * interruptible. Returns 1 if it was current, 0 if not, or an error.
 */
int __must_check nvdebug_override_undo(struct nvdebug_gpu *gpu, u64 number);

/*
 * Restore the drivers' lists: on removal of the GPU, and on driver changes,
 * which may change the IOMMU mappings of the lists. With the device lock held,
 * or after the GPU's files are removed, so that no list is created meanwhile.
 * @error: why the GPU cannot be accessed, or 0. With -ENODEV it is off or gone
 * and reads no list; with others it may, so the memory is leaked. So is it after
 * nvdebug_submit_give_up(), also when the module is unloaded: Host may read it
 * until the driver submits another list, and nothing reports that.
 */
void nvdebug_overrides_retire(struct nvdebug_gpu *gpu, int error);

/* Are there any? */
bool nvdebug_overrides_exist(struct nvdebug_gpu *gpu);

#endif
