/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Walks of page tables in the GPU's memory. */
#ifndef NVDEBUG_MMU_H
#define NVDEBUG_MMU_H

#include <linux/types.h>

#include "core/machine.h"
#include "decode/mmu.h"

struct nvdebug_gpu;

/*
 * Set @kib to the big page size of all address spaces, or to 0 if each instance
 * block has its own (@pdb_may_override: the block has a bit for that). Used up
 * to Pascal. The register is read once per session.
 */
int __must_check nvdebug_mmu_big_page(struct nvdebug_mem *mem,
				      bool pdb_may_override, u32 *kib);

/*
 * Find the format of an address space. @version is 0 for the chip's newest
 * format. @big_page_kib is 0 for the chip's current setting in version 1, which
 * is read from a register once per session, and for 64 KiB in the others.
 * Returns -EINVAL if the chip has no such format; other errors are those of
 * reading the register.
 */
int __must_check nvdebug_mmu_format(struct nvdebug_mem *mem, u32 version,
				    u32 big_page_kib,
				    const struct nvdebug_mmu_format **format);

struct nvdebug_mmu_walk {
	struct nvdebug_walk walk;
	struct list_head node;
	/* The entry to read next; want.error says why the walk ended. */
	struct nvdebug_mem_request want;
	u32 words[NVDEBUG_MMU_ENTRY_WORDS];
};

/* Start a walk. @va_limit is the highest address; 0: not known. */
void nvdebug_mmu_walk_start(struct nvdebug_mmu_walk *w, struct nvdebug_gpu *gpu,
			    const struct nvdebug_mmu_format *format, u64 pdb,
			    u8 aperture, u64 va_limit, u64 va);
/*
 * Run all @walks (linked by node) to their ends, level by level. Returns only
 * fatal errors; an error of reading an entry is in walk->want.error.
 */
int __must_check nvdebug_mmu_walk_all(struct nvdebug_mem *mem,
				      struct list_head *walks);

#endif
