/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Instance blocks and what they lead to, as read by state/instances.c.
 */
#ifndef NVDEBUG_STATE_BLOCKS_H
#define NVDEBUG_STATE_BLOCKS_H

#include <linux/types.h>

#include "decode/context.h"
#include "decode/instance.h"
#include "state/intern.h"

struct nvdebug_gpu;

/* The valid entries of a subcontext table. Equal tables are one. */
struct nvdebug_sc_table {
	struct nvdebug_interned base;
	const struct nvdebug_subcontext *entry;
	u32 count;
};

/* A context image. What lies at the same place is one. */
struct nvdebug_image {
	struct nvdebug_interned base;
	bool has_va;
	u64 va;
	u64 addr;
	u8 aperture;
	int error;
	struct nvdebug_context context;
};

/* An engine context pointer, in its address space. Equal ones are one. */
struct nvdebug_context_pointer {
	struct nvdebug_interned base;
	int error;
	struct nvdebug_image *image;	/* if there is no error */
};

struct nvdebug_block {
	struct nvdebug_interned base;
	u64 addr;
	u8 aperture;
	int error;
	struct nvdebug_instance instance;
	struct nvdebug_sc_table *table;	/* NULL: no subcontexts */
	int no_context;			/* if there is no pointer: why */
	struct nvdebug_context_pointer *pointer;
};

/* For one open or write of a file. */
struct nvdebug_instances {
	struct nvdebug_gpu *gpu;
	struct nvdebug_intern blocks;
	struct nvdebug_intern tables;
	struct nvdebug_intern pointers;
	struct nvdebug_intern images;
	bool with_images;	/* to be set before reading */
	u8 big_page_kib;	/* for all of version 1; 0: each block says it */
	int error;		/* that ends everything */
};

static inline const struct nvdebug_page_dir *
nvdebug_block_compute_dir(const struct nvdebug_block *block)
{
	const struct nvdebug_sc_table *table = block->table;

	return nvdebug_instance_compute_dir(&block->instance,
					    table ? table->entry : NULL,
					    table ? table->count : 0);
}

/* Why there is no image to show, or 0. */
static inline int nvdebug_block_image(const struct nvdebug_block *block,
				      const struct nvdebug_image **image)
{
	const struct nvdebug_context_pointer *pointer = block->pointer;

	*image = NULL;
	if (!pointer)
		return block->no_context;
	if (pointer->error)
		return pointer->error;
	*image = pointer->image;
	return pointer->image->error;
}

#endif
