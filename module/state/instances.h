/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Instance blocks of many channels. Each block is read once, with its
 * subcontext table and, on request, its context image. A problem with one of
 * these is recorded as its own status (enum nvdebug_instance_status or -errno).
 */
#ifndef NVDEBUG_INSTANCES_H
#define NVDEBUG_INSTANCES_H

#include <linux/types.h>

#include "state/blocks.h"

struct nvdebug_gpu;
struct nvdebug_instance_place;
struct nvdebug_mem;
struct nvdebug_mmu_format;
struct nvdebug_runlist;

/* Set, at probe, the features that need instance blocks. */
void nvdebug_instances_survey(struct nvdebug_gpu *gpu);

struct nvdebug_instances *nvdebug_instances_create(struct nvdebug_gpu *gpu);
void nvdebug_instances_free(struct nvdebug_instances *set);

/*
 * Add the block at @place, to be read later. Returns NULL if the channel is not
 * bound, ERR_PTR() on failure.
 */
struct nvdebug_block *
nvdebug_instances_add(struct nvdebug_instances *set,
		      const struct nvdebug_instance_place *place);

/*
 * Read all blocks and, if set->with_images, the context images, which channels
 * of graphics runlists have. Fails only with fatal errors.
 */
int __must_check nvdebug_instances_read(struct nvdebug_instances *set,
					struct nvdebug_mem *mem);

/*
 * Check that @block still belongs to channel @id, if a register shows that. If
 * it does not, its status becomes NVDEBUG_INSTANCE_CHANGED, because the words
 * that were read may belong to something else.
 */
int __must_check nvdebug_instances_confirm(struct nvdebug_instances *set,
					   u32 id, struct nvdebug_block *block);

/*
 * Read the instance block of channel @id of @runlist. -EINVAL if the channel is
 * not in the list or not bound, -EBUSY if the block changed; other errors are
 * those of reading memory. @set owns *@block.
 */
int __must_check nvdebug_instances_find(struct nvdebug_instances *set,
					struct nvdebug_mem *mem,
					struct nvdebug_runlist *runlist,
					u32 id, struct nvdebug_block **block);

/* Return the text of a status, as in docs/proc.md. */
const char *nvdebug_instance_status_name(int status);
/* Return the errno of a status. */
int nvdebug_instance_status_error(int status);

#endif
