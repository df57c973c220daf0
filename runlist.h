/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Runlists: finding one, and printing it with the state of its channels.
 */
#ifndef NVDEBUG_RUNLIST_H
#define NVDEBUG_RUNLIST_H

#include <linux/types.h>

struct nvdebug_entry;
struct nvdebug_gpu;
struct nvdebug_runlist;
struct nvdebug_runlist_location;

/* Where in its register block a runlist has what, Ampere and newer. */
struct nvdebug_runlist_block {
	u16 channel_config;
	u16 doorbell_config;
	u16 pbdma_config;		/* + 4 i */
	bool pbdma_ids;			/* does that say the PBDMA's number? */
	/* of each engine, + NV_RUNLIST_ENGINE_STATUS__STRIDE i; 0: not public */
	u16 engine_status0;
	u16 engine_status1;
	u16 engine_status_channel;	/* + 4 for the second PBDMA */
	u16 engine_status_debug;
	u32 engines;
};

struct nvdebug_runlist_ops {
	/* The form of the entries. */
	u32 entry_words;
	bool has_runqueue;
	int (*decode)(const u32 *word, size_t words,
		      struct nvdebug_entry *entry);
	bool (*is_pri_error)(const u32 *word, size_t words);
	/* word 0 of a TSG header with another timeslice */
	u32 (*set_timeslice)(u32 word, u8 timeout, u8 scale);
	/*
	 * The registers that say where the list is: the first one, and where
	 * in them LENGTH is, which is bits 15:0 on every chip.
	 */
	u32 (*registers)(const struct nvdebug_runlist *runlist);
	u32 length_offset;
	u32 ptr_lo;	/* mask of the address bits in the first one */
	u32 ptr_hi;	/* and in the second, where there is one */
	int (*location)(struct nvdebug_gpu *gpu,
			const struct nvdebug_runlist *runlist,
			struct nvdebug_runlist_location *loc);
	const struct nvdebug_runlist_block *block;	/* NULL up to Turing */
	/*
	 * How many channels a runlist must say that it has, where the map of
	 * its block is inferred; 0: as many as it says.
	 */
	u32 channels;
	/*
	 * Read what the runlist's own registers say of it, where it has any.
	 * Called with gpu->lock held, until it succeeds once.
	 */
	int (*prepare)(struct nvdebug_gpu *gpu,
		       struct nvdebug_runlist *runlist);
};

/* Ids of channels and TSGs have 12 bits. */
#define NVDEBUG_CHANNEL_IDS	4096

extern const struct nvdebug_view nvdebug_runlist_view;
/* without instance blocks and contexts */
extern const struct nvdebug_view nvdebug_runlist_brief_view;

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

#endif
