/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Create, install and remove override lists (see state/override.h). Host
 * rereads the current list at any time, so a list's memory is kept until
 * another list is current. All but the last two functions are called under
 * gpu->lock.
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
 * switch is complete. Consumes @list. On failure the list at @now is restored.
 * -EBUSY: the driver submitted another list.
 */
int __must_check
nvdebug_override_install(struct nvdebug_gpu *gpu, struct nvdebug_override *list,
			 const struct nvdebug_runlist_location *now,
			 nvdebug_done_fn settled, const void *what);

/*
 * Submit the driver's list, in place of a current override list if there is
 * one.
 */
int __must_check nvdebug_override_resubmit(struct nvdebug_gpu *gpu,
					   const struct nvdebug_runlist *runlist);

/*
 * Submit the driver's list if override list @number is still current. Not
 * interruptible. Returns 1 if the override list was current, 0 if not, or an
 * error.
 */
int __must_check nvdebug_override_undo(struct nvdebug_gpu *gpu, u64 number);

/*
 * Restore the drivers' lists when the GPU is removed, and on driver changes,
 * which may change the IOMMU mappings of the lists. Called with the device lock
 * held, or after the GPU's files are removed, so that no list is created
 * meanwhile.
 *
 * @error is the reason why the GPU cannot be accessed, or 0. With -ENODEV the
 * GPU is off or gone and reads no list; with other errors it may read one, so
 * the memory is leaked. The memory is also leaked after
 * nvdebug_submit_give_up(), even when the module is unloaded: Host may read it
 * until the driver submits another list, and nothing reports that.
 */
void nvdebug_overrides_retire(struct nvdebug_gpu *gpu, int error);

/* Return whether the GPU has override lists. */
bool nvdebug_overrides_exist(struct nvdebug_gpu *gpu);

#endif
