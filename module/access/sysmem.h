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

/*
 * Read words that a driver has put there, or the module: only while a driver is
 * bound and kernel lockdown allows reading the kernel's memory, which it need
 * not for restoring state, or in memory of override lists. Else -EOPNOTSUPP.
 * Other errors as nvdebug_mem_read(). May sleep.
 */
int __must_check nvdebug_sysmem_read(const struct nvdebug_mem *mem, u64 bus,
				     u32 *buf, size_t words);
/* The same without a question, for addresses that the module has made. */
int __must_check nvdebug_sysmem_read_any(struct nvdebug_gpu *gpu, u64 bus,
					 u32 *buf, size_t words);
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
 * where nothing may be read, and if the GPU does not snoop and the cache cannot
 * be written back.
 */
int __must_check nvdebug_sysmem_write(const struct nvdebug_mem *mem,
				      const struct nvdebug_mem_change *change);

#endif
