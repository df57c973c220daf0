/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Copying a list from memory while it may change.
 */
#ifndef NVDEBUG_RUNLIST_COPY_H
#define NVDEBUG_RUNLIST_COPY_H

#include <linux/types.h>

#include "decode/runlist.h"

struct nvdebug_gpu;
struct nvdebug_mem;
struct nvdebug_runlist;

/* A list as it was copied from memory. */
struct nvdebug_runlist_copy {
	struct nvdebug_runlist_location loc;
	bool torn;	/* it moved, and moved again when it was tried again */
	u32 *words;	/* NULL if there are no entries or no way to read them */
};

/*
 * Copy a list as it stands; @copy->words is to be freed with kvfree().
 * @even_only leaves out the words that tell neither kind nor id of an entry.
 */
int __must_check nvdebug_runlist_copy(struct nvdebug_gpu *gpu,
				      struct nvdebug_mem *mem,
				      const struct nvdebug_runlist *runlist,
				      bool even_only,
				      struct nvdebug_runlist_copy *copy);

/*
 * The driver's list, even where one of ours is in force in place of it.
 */
int __must_check
nvdebug_runlist_copy_beneath(struct nvdebug_gpu *gpu, struct nvdebug_mem *mem,
			     const struct nvdebug_runlist *runlist,
			     struct nvdebug_runlist_copy *copy);

/* Set the bit of every TSG or channel that the list has now. */
int __must_check nvdebug_runlist_ids(struct nvdebug_gpu *gpu,
				     const struct nvdebug_runlist *runlist,
				     enum nvdebug_entry_kind kind, bool beneath,
				     unsigned long *held);

#endif
