/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * System memory, by GPU addresses. The GPU supplies the addresses, so they are
 * not trusted.
 */
#ifndef NVDEBUG_SYSMEM_H
#define NVDEBUG_SYSMEM_H

#include <linux/types.h>

#include "core/machine.h"

struct nvdebug_gpu;

/*
 * Read words that a driver or the module has put into memory. That is allowed
 * in memory of override lists; and elsewhere only while a driver is bound and
 * kernel lockdown allows reading the kernel's memory. Lockdown does not apply
 * to restoring state. Else -EOPNOTSUPP. Other errors as nvdebug_mem_read(). May
 * sleep.
 */
int __must_check nvdebug_sysmem_read(const struct nvdebug_mem *mem, u64 bus,
				     u32 *buf, size_t words);
/* Read words at an address that the module has made: no condition applies. */
int __must_check nvdebug_sysmem_read_any(struct nvdebug_gpu *gpu, u64 bus,
					 u32 *buf, size_t words);
/*
 * Find the physical address of a bus address, for its 4 KiB. -EFAULT: not
 * mapped.
 */
int __must_check nvdebug_sysmem_phys(struct nvdebug_gpu *gpu, u64 bus,
				     phys_addr_t *phys);
/*
 * Find the address that the GPU must use for the DMA address @dma. Returns
 * -EOPNOTSUPP if the GPU's accesses bypass the IOMMU that @dma is for.
 */
int __must_check nvdebug_sysmem_address(struct nvdebug_gpu *gpu, u64 dma,
					u64 *address);
/*
 * Write one word if the word and its guards are as expected, else return
 * -EBUSY. -EOPNOTSUPP where nothing may be read, and if the GPU does not snoop
 * and the cache cannot be written back.
 */
int __must_check nvdebug_sysmem_write(const struct nvdebug_mem *mem,
				      const struct nvdebug_mem_change *change);

#endif
