/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Instance blocks of many channels: each is read once, with its subcontext
 * table and, if asked for, what it points to in the end: the context image.
 */
#ifndef NVDEBUG_INSTANCES_H
#define NVDEBUG_INSTANCES_H

#include <linux/types.h>

#include "decode/context.h"
#include "decode/instance.h"
#include "intern.h"

struct nvdebug_gpu;
struct nvdebug_instance_place;
struct nvdebug_mem;
struct nvdebug_runlist;

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
	const char *error;	/* why it could not be read, or NULL */
	struct nvdebug_context context;
};

struct nvdebug_block {
	struct nvdebug_interned base;
	u64 addr;
	u8 aperture;
	const char *error;	/* why it could not be read, or NULL */
	struct nvdebug_instance instance;
	struct nvdebug_sc_table *table;	/* NULL: no subcontexts */
	struct nvdebug_image *image;	/* NULL: see no_image */
	const char *no_image;		/* as docs/proc.md says it */
};

/* For one open or write of a file. */
struct nvdebug_instances {
	struct nvdebug_gpu *gpu;
	struct nvdebug_intern blocks;
	struct nvdebug_intern tables;
	int error;		/* that ends everything */
};

struct nvdebug_instances *nvdebug_instances_create(struct nvdebug_gpu *gpu);
void nvdebug_instances_free(struct nvdebug_instances *set);

/*
 * The block at @place, to be read later; NULL if the channel has none. An
 * ERR_PTR() on failure.
 */
struct nvdebug_block *
nvdebug_instances_add(struct nvdebug_instances *set,
		      const struct nvdebug_instance_place *place);

/*
 * Read all blocks that were added. What is wrong with one is its own error;
 * fails only with -EINTR, -ENODEV or -ENOMEM.
 */
int __must_check nvdebug_instances_read(struct nvdebug_instances *set,
					struct nvdebug_mem *mem);

/* What docs/proc.md calls an error of reading memory, in place of a box. */
const char *nvdebug_memory_error(int error);

static inline const struct nvdebug_page_dir *
nvdebug_block_compute_dir(const struct nvdebug_block *block)
{
	const struct nvdebug_sc_table *table = block->table;

	return nvdebug_instance_compute_dir(&block->instance,
					    table ? table->entry : NULL,
					    table ? table->count : 0);
}

#endif
