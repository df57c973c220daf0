/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * From an instance block to the context image it leads to, by way of the fetch
 * that has read the block.
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
 * Find block->pointer, and follow it unless that has been done. NULL if there
 * is nothing to read for that, else @want is the first request.
 */
struct nvdebug_context_fetch *
nvdebug_context_begin(struct nvdebug_instances *set, struct nvdebug_mem *mem,
		      struct nvdebug_block *block,
		      struct nvdebug_mem_request *want);

/* @want was read, or not, as @error says. False at the end. */
bool nvdebug_context_step(struct nvdebug_context_fetch *self, int error);

#endif
