/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Runlists: finding one, copying it while it may change, and printing it with
 * the state of its channels.
 */
#ifndef NVDEBUG_RUNLIST_H
#define NVDEBUG_RUNLIST_H

#include <linux/types.h>

#include "decode/runlist.h"

struct nvdebug_gpu;
struct nvdebug_mem;
struct nvdebug_runlist;

struct nvdebug_runlist_ops {
	/* The form of the entries. */
	u32 entry_words;
	bool has_runqueue;
	int (*decode)(const u32 *word, size_t words,
		      struct nvdebug_entry *entry);
	bool (*is_pri_error)(const u32 *word, size_t words);
	/*
	 * The registers that say where the list is: the first one, and where
	 * in them LENGTH is, which is bits 15:0 on every chip.
	 */
	u32 (*registers)(const struct nvdebug_runlist *runlist);
	u32 length_offset;
	u32 ptr_lo;	/* mask of the address bits in the first one */
	int (*location)(struct nvdebug_gpu *gpu,
			const struct nvdebug_runlist *runlist,
			struct nvdebug_runlist_location *loc);
	/*
	 * Read what the runlist's own registers say of it, where it has any.
	 * Called with gpu->lock held, until it succeeds once.
	 */
	int (*prepare)(struct nvdebug_gpu *gpu,
		       struct nvdebug_runlist *runlist);
};

extern const struct nvdebug_view nvdebug_runlist_view;

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

/* Set the bit of every TSG or channel that the list has now; ids have 12 bits. */
#define NVDEBUG_CHANNEL_IDS	4096
int __must_check nvdebug_runlist_ids(struct nvdebug_gpu *gpu,
				     const struct nvdebug_runlist *runlist,
				     enum nvdebug_entry_kind kind,
				     unsigned long *held);

#endif
