/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Instance blocks and the structures they refer to, read by state/instances.c.
 */
#ifndef NVDEBUG_STATE_BLOCKS_H
#define NVDEBUG_STATE_BLOCKS_H

#include <linux/types.h>

#include "decode/context.h"
#include "decode/instance.h"
#include "state/intern.h"

struct nvdebug_gpu;

/*
 * Status of a block, pointer or image: one of these, or a negative errno of
 * reading memory.
 */
enum nvdebug_instance_status {
	NVDEBUG_INSTANCE_OK,
	NVDEBUG_INSTANCE_NOT_BOUND,	/* the channel has no block */
	NVDEBUG_INSTANCE_CHANGED,	/* the channel has another block */
	NVDEBUG_INSTANCE_NOT_MAPPED,	/* the image's address is not mapped */
	NVDEBUG_INSTANCE_BAD_MAGIC,	/* not a context image */
	NVDEBUG_INSTANCE_NO_CONTEXT,
	NVDEBUG_INSTANCE_NOT_READ,	/* images were not asked for */
};

/* The valid entries of a subcontext table. Equal tables are shared. */
struct nvdebug_sc_table {
	struct nvdebug_interned base;
	const struct nvdebug_subcontext *entry;
	u32 count;
};

/* A context image, one per address. */
struct nvdebug_image {
	struct nvdebug_interned base;
	bool has_va;
	u64 va;
	u64 addr;
	u8 aperture;
	int status;		/* enum nvdebug_instance_status or -errno */
	struct nvdebug_context context;
};

/* An engine context pointer in its address space. Equal pointers are shared. */
struct nvdebug_context_pointer {
	struct nvdebug_interned base;
	int status;
	struct nvdebug_image *image;	/* if status is 0 */
};

struct nvdebug_block {
	struct nvdebug_interned base;
	u64 addr;
	u8 aperture;
	int status;
	struct nvdebug_instance instance;
	struct nvdebug_sc_table *table;	/* NULL: no subcontexts */
	int no_context;		/* status if there is no pointer */
	struct nvdebug_context_pointer *pointer;
};

/* The instance blocks of one open or write of a file. */
struct nvdebug_instances {
	struct nvdebug_gpu *gpu;
	struct nvdebug_intern blocks;
	struct nvdebug_intern tables;
	struct nvdebug_intern pointers;
	struct nvdebug_intern images;
	/* Set these before reading. */
	bool with_images;
	/* Read only the words of a block that compute_dir and veid need. */
	bool spaces_only;
	/* Size for all blocks of version 1; 0: each block has its own. */
	u8 big_page_kib;
};

static inline const struct nvdebug_page_dir *
nvdebug_block_compute_dir(const struct nvdebug_block *block)
{
	const struct nvdebug_sc_table *table = block->table;

	return nvdebug_instance_compute_dir(&block->instance,
					    table ? table->entry : NULL,
					    table ? table->count : 0);
}

/* Return the image, or the status that says why there is none. */
static inline int nvdebug_block_image(const struct nvdebug_block *block,
				      const struct nvdebug_image **image)
{
	const struct nvdebug_context_pointer *pointer = block->pointer;

	*image = NULL;
	if (!pointer)
		return block->no_context;
	if (pointer->status)
		return pointer->status;
	*image = pointer->image;
	return pointer->image->status;
}

#endif
