/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Read the context image of an instance block, as part of the fetch that has
 * read the block.
 */
#ifndef NVDEBUG_CONTEXT_IMAGE_H
#define NVDEBUG_CONTEXT_IMAGE_H

#include <linux/types.h>

#include "core/machine.h"

struct nvdebug_block;
struct nvdebug_context_fetch;
struct nvdebug_instances;
struct nvdebug_mem;
struct nvdebug_mem_request;

/*
 * Set block->pointer. NULL if there is nothing to read, also because the
 * pointer was followed before; else @want is the first request.
 */
struct nvdebug_context_fetch *
nvdebug_context_begin(struct nvdebug_instances *set, struct nvdebug_mem *mem,
		      struct nvdebug_block *block,
		      struct nvdebug_mem_request *want);

/* @want was read, or failed with @error. False at the end. */
bool nvdebug_context_step(struct nvdebug_context_fetch *self, int error);

#endif
