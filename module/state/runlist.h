/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The current runlists: location, and a copy that is consistent or marked torn.
 */
#ifndef NVDEBUG_STATE_RUNLIST_H
#define NVDEBUG_STATE_RUNLIST_H

#include <linux/types.h>

#include "decode/runlist.h"

struct nvdebug_gpu;
struct nvdebug_mem;
struct nvdebug_runlist;

/*
 * Read runlist->channels if that has not succeeded yet. Engines in reset do not
 * answer, so every use tries again.
 */
int __must_check nvdebug_runlist_prepare(struct nvdebug_gpu *gpu,
					 struct nvdebug_runlist *runlist);

/* Read the current number of entries, from one register. */
int __must_check nvdebug_runlist_length(struct nvdebug_gpu *gpu,
					const struct nvdebug_runlist *runlist,
					u32 *entries);

/* A copy of a list. */
struct nvdebug_runlist_copy {
	struct nvdebug_runlist_location loc;
	bool torn;	/* the list was replaced during every attempt */
	u32 *words;	/* NULL if it is empty or cannot be read */
};

/*
 * Copy the current list. The caller frees @copy->words with kvfree(). @raw:
 * copy all words, to submit them; else words that are not decoded may be 0.
 */
int __must_check nvdebug_runlist_copy(struct nvdebug_gpu *gpu,
				      struct nvdebug_mem *mem,
				      const struct nvdebug_runlist *runlist,
				      bool raw,
				      struct nvdebug_runlist_copy *copy);

/*
 * Copy the driver's list where an override list is current, else the current
 * list.
 */
int __must_check
nvdebug_runlist_copy_original(struct nvdebug_gpu *gpu, struct nvdebug_mem *mem,
			      const struct nvdebug_runlist *runlist,
			      struct nvdebug_runlist_copy *copy);

/* Set a bit of @ids for every TSG or channel id in the current list. */
int __must_check nvdebug_runlist_ids(struct nvdebug_gpu *gpu,
				     const struct nvdebug_runlist *runlist,
				     enum nvdebug_entry_kind kind, bool original,
				     unsigned long *ids);

#endif
