/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * System memory, by GPU addresses. These were read from the GPU and are not
 * trusted.
 */
#ifndef NVDEBUG_SYSMEM_H
#define NVDEBUG_SYSMEM_H

#include <linux/types.h>

#include "core/machine.h"

struct nvdebug_gpu;

/* Errors as nvdebug_mem_read(). May sleep. */
int __must_check nvdebug_sysmem_read(struct nvdebug_gpu *gpu, u64 bus, u32 *buf,
				     size_t words);
/* Physical address of a bus address, for one page. -EFAULT: not mapped. */
int __must_check nvdebug_sysmem_phys(struct nvdebug_gpu *gpu, u64 bus,
				     phys_addr_t *phys);
/*
 * The address that the GPU must use for the DMA address @dma, or -EOPNOTSUPP if
 * its accesses bypass the IOMMU that @dma is for.
 */
int __must_check nvdebug_sysmem_address(struct nvdebug_gpu *gpu, u64 dma,
					u64 *address);
/*
 * Write one word if it and its guards are as expected, else -EBUSY. -EOPNOTSUPP
 * if the GPU does not snoop and the cache cannot be written back.
 */
int __must_check nvdebug_sysmem_write(struct nvdebug_gpu *gpu,
				      const struct nvdebug_mem_change *change);

#endif
