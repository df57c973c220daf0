/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * System memory by the addresses the GPU uses, which come from the GPU and may
 * be anything.
 */
#ifndef NVDEBUG_SYSMEM_H
#define NVDEBUG_SYSMEM_H

#include <linux/types.h>

#include "core/machine.h"

struct nvdebug_gpu;

/* The errors of nvdebug_mem_read(). May sleep. */
int __must_check nvdebug_sysmem_read(struct nvdebug_gpu *gpu, u64 bus, u32 *buf,
				     size_t words);
/* What is behind a bus address, for one page. -EFAULT if nothing is. */
int __must_check nvdebug_sysmem_phys(struct nvdebug_gpu *gpu, u64 bus,
				     phys_addr_t *phys);
/*
 * What the GPU has to be told for @dma of its device, or -EOPNOTSUPP if it
 * does not go the way that @dma is for.
 */
int __must_check nvdebug_sysmem_address(struct nvdebug_gpu *gpu, u64 dma,
					u64 *address);
/*
 * Write one word if it is @expected, else -EBUSY. -EOPNOTSUPP if the GPU does
 * not snoop (@coherent is false) and this CPU has no way of writing back its
 * cache.
 */
int __must_check nvdebug_sysmem_write(struct nvdebug_gpu *gpu, u64 bus,
				      bool coherent, u32 expected, u32 value);

#endif
