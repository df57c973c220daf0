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

#include "state/blocks.h"

struct nvdebug_gpu;
struct nvdebug_instance_place;
struct nvdebug_mem;
struct nvdebug_mmu_format;
struct nvdebug_runlist;

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

#endif
