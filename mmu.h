/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Page tables in the GPU's memory.
 */
#ifndef NVDEBUG_MMU_H
#define NVDEBUG_MMU_H

#include <linux/types.h>

#include "decode/mmu.h"

struct nvdebug_gpu;

/*
 * The size of big pages that one register sets for all address spaces, or 0
 * where each may say its own (@pdb_may_say: it has a bit for that). Up to
 * Pascal. The register is read once in a session.
 */
int __must_check nvdebug_mmu_big_page(struct nvdebug_mem *mem, bool pdb_may_say,
				      u32 *kib);

/*
 * The format of an address space: @version as its instance block says, 0 for
 * the chip's newest; @big_page_kib likewise, 0 for what the chip is set to in
 * version 1 and for 64 KiB in the others. -EINVAL: the chip has no such format.
 * A register says what it is set to, which is read once in a session, so it
 * may fail as that may.
 */
int __must_check nvdebug_mmu_format(struct nvdebug_mem *mem, u32 version,
				    u32 big_page_kib,
				    const struct nvdebug_mmu_format **format);

/* A walk by way of a fetch, as whose requests it reads its entries. */
struct nvdebug_mmu_walk {
	struct nvdebug_walk walk;
	u32 words[NVDEBUG_MMU_ENTRY_WORDS];
};

/*
 * Start it, and make @want the first request. False if it is over at once, as
 * walk.state says. @va_limit: the highest address, 0: not known.
 */
bool nvdebug_mmu_walk_start(struct nvdebug_mmu_walk *w, struct nvdebug_gpu *gpu,
			    const struct nvdebug_mmu_format *format, u64 pdb,
			    u8 aperture, u64 va_limit, u64 va,
			    struct nvdebug_mem_request *want);
/* @want was read: make it the next request, or return false at the end. */
bool nvdebug_mmu_walk_step(struct nvdebug_mmu_walk *w,
			   struct nvdebug_mem_request *want);

#endif
