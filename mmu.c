// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Entries of 64 or 128 bits are read once, as 32-bit words, so they may be torn
 * if a driver changes them meanwhile. The worst result is a wrong address,
 * which is checked like any other before it is read.
 */
#include <linux/errno.h>

#include "chips/chips.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "decode/mmu.h"
#include "hw/mmu.h"
#include "mmu.h"

int nvdebug_mmu_big_page(struct nvdebug_mem *mem, bool pdb_may_override, u32 *kib)
{
	int ret;

	if (!mem->mmu_ctrl_known) {
		ret = nvdebug_reg_read(mem->gpu, NV_PFB_PRI_MMU_CTRL,
				       &mem->mmu_ctrl);
		if (ret)
			return ret;
		mem->mmu_ctrl_known = true;
	}
	if (pdb_may_override &&
	    mem->mmu_ctrl & NV_PFB_PRI_MMU_CTRL_USE_PDB_BIG_PAGE_SIZE)
		*kib = 0;
	else
		*kib = mem->mmu_ctrl & NV_PFB_PRI_MMU_CTRL_VM_PG_SIZE_64KB ?
		       64 : 128;
	return 0;
}

static int version1_format(struct nvdebug_mem *mem, u32 big_page_kib,
			   const struct nvdebug_mmu_format **format)
{
	const struct nvdebug_mmu_ops *ops = mem->gpu->chip->mmu;
	int ret;

	if (!big_page_kib) {
		ret = nvdebug_mmu_big_page(mem, false, &big_page_kib);
		if (ret)
			return ret;
	}
	*format = big_page_kib == 64 ? ops->version1_64k : ops->version1_128k;
	return 0;
}

int nvdebug_mmu_format(struct nvdebug_mem *mem, u32 version, u32 big_page_kib,
		       const struct nvdebug_mmu_format **format)
{
	const struct nvdebug_mmu_ops *ops = mem->gpu->chip->mmu;

	if (ops->newest && (!version || version == ops->newest->version)) {
		*format = big_page_kib == 128 ? ops->newest_128k : ops->newest;
		return *format ? 0 : -EINVAL;
	}
	if (ops->version1_64k && version <= 1)
		return version1_format(mem, big_page_kib, format);
	return -EINVAL;
}

void nvdebug_mmu_walk_start(struct nvdebug_mmu_walk *w, struct nvdebug_gpu *gpu,
			    const struct nvdebug_mmu_format *format, u64 pdb,
			    u8 aperture, u64 va_limit, u64 va)
{
	w->want.error = 0;
	nvdebug_walk_start(&w->walk, format, pdb, aperture, va);
	nvdebug_walk_limit(&w->walk, gpu->video_memory, va_limit);
}

/* Add the next entry of the walk to @wanted, if the walk needs another one. */
static void walk_want(struct nvdebug_mmu_walk *w, struct list_head *wanted)
{
	u64 addr;
	u32 words;
	u8 aperture;

	if (w->want.error ||
	    !nvdebug_walk_wants(&w->walk, &addr, &aperture, &words))
		return;
	w->want = (struct nvdebug_mem_request) {
		.addr = addr,
		.aperture = aperture,
		.table = true,
		.words = words,
		.buf = w->words,
	};
	list_add_tail(&w->want.node, wanted);
}

int nvdebug_mmu_walk_all(struct nvdebug_mem *mem, struct list_head *walks)
{
	struct nvdebug_mmu_walk *w;
	LIST_HEAD(wanted);
	int ret;

	for (;;) {
		list_for_each_entry(w, walks, node)
			walk_want(w, &wanted);
		if (list_empty(&wanted))
			return 0;
		ret = nvdebug_mem_read_all(mem, &wanted);
		if (ret)
			return ret;
		/* A walk that has ended ignores the words. */
		list_for_each_entry(w, walks, node)
			if (!w->want.error)
				nvdebug_walk_feed(&w->walk, w->words);
	}
}
