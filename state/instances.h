/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Instance blocks of many channels: each is read once, with its subcontext
 * table and, if asked for, what it leads to in the end: the context image.
 *
 * What is wrong with one of these is its own error:
 *   -ESRCH       the channel has none
 *   -EAGAIN      the channel has another one meanwhile
 *   -ENXIO       the address is not mapped
 *   -ENOEXEC     a context image without its magic value
 *   -ENOENT      there is no context
 *   -ENODATA     nobody knows, or has asked
 * and those of reading memory.
 */
#ifndef NVDEBUG_INSTANCES_H
#define NVDEBUG_INSTANCES_H

#include <linux/types.h>

#include "decode/context.h"
#include "decode/instance.h"
#include "state/intern.h"

struct nvdebug_gpu;
struct nvdebug_instance_place;
struct nvdebug_mem;
struct nvdebug_mmu_format;
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

/* At creation: which features build on all this, and why not. */
void nvdebug_instances_survey(struct nvdebug_gpu *gpu);

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
 * Read all blocks and, @with_images, the context images that they lead to, as
 * those of channels of the graphics engine do. Fails only with -EINTR, -ENODEV
 * or -ENOMEM.
 */
int __must_check nvdebug_instances_read(struct nvdebug_instances *set,
					struct nvdebug_mem *mem);

/*
 * Is @block still that of channel @id? If not, that becomes its error: what
 * was read may be another's, or half of it. Only a register tells.
 */
int __must_check nvdebug_instances_confirm(struct nvdebug_instances *set,
					   u32 id, struct nvdebug_block *block);

/*
 * Read the instance block of channel @id of @runlist, whose list must hold it
 * now (-EINVAL; also if it has none). Every error is returned. *@block belongs
 * to @set.
 */
int __must_check nvdebug_instances_find(struct nvdebug_instances *set,
					struct nvdebug_mem *mem,
					struct nvdebug_runlist *runlist,
					u32 id, struct nvdebug_block **block);

/* How docs/proc.md says an error of the above. */
const char *nvdebug_instance_error(int error);

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
