/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Runlists as they are now: where one is, and copying it while it may change.
 */
#ifndef NVDEBUG_STATE_RUNLIST_H
#define NVDEBUG_STATE_RUNLIST_H

#include <linux/types.h>

#include "decode/runlist.h"

struct nvdebug_gpu;
struct nvdebug_mem;
struct nvdebug_runlist;

/*
 * Make sure that runlist->channels is known. A runlist whose engines were in
 * reset at load may answer later, so that this is tried again on every use.
 */
int __must_check nvdebug_runlist_prepare(struct nvdebug_gpu *gpu,
					 struct nvdebug_runlist *runlist);

/* How many entries it has now, in one register read. */
int __must_check nvdebug_runlist_length(struct nvdebug_gpu *gpu,
					const struct nvdebug_runlist *runlist,
					u32 *entries);

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
 * The driver's list, even where an override list is in force.
 */
int __must_check
nvdebug_runlist_copy_original(struct nvdebug_gpu *gpu, struct nvdebug_mem *mem,
			      const struct nvdebug_runlist *runlist,
			      struct nvdebug_runlist_copy *copy);

/* Set the bit of every TSG or channel that the list has now. */
int __must_check nvdebug_runlist_ids(struct nvdebug_gpu *gpu,
				     const struct nvdebug_runlist *runlist,
				     enum nvdebug_entry_kind kind, bool original,
				     unsigned long *held);

#endif
