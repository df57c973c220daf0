/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * BAR1 and BAR2: PCI BARs onto video memory, directly or through page tables of
 * their own. Reading through them has no side effects.
 */
#ifndef NVDEBUG_BAR_H
#define NVDEBUG_BAR_H

#include <linux/rbtree.h>
#include <linux/types.h>

#include "decode/bar.h"
#include "decode/mmu.h"

struct nvdebug_extent;
struct nvdebug_gpu;
struct nvdebug_mem;
struct nvdebug_pramin;
struct nvdebug_table_cache;

/* One BAR, as known to a session. */
struct nvdebug_bar {
	enum {
		NVDEBUG_BAR_UNKNOWN,	/* not probed yet */
		NVDEBUG_BAR_UNUSABLE,
		NVDEBUG_BAR_PHYSICAL,
		NVDEBUG_BAR_VIRTUAL,	/* through page tables */
	} state;
	resource_size_t start;	/* in the CPU's address space */
	u64 size;		/* usable part */
	struct nvdebug_bar_block block;

	/* the scan of its page tables, if VIRTUAL */
	u8 passes;		/* started so far */
	bool skipped;		/* this pass skipped unreadable tables */
	bool found_new;		/* this pass found new extents */
	struct nvdebug_scan scan;
	struct rb_root_cached found;	/* by address in video memory */
	struct nvdebug_extent *last;	/* most recent one */
};

#define NVDEBUG_BAR_MAPPINGS	16

struct nvdebug_bars {
	/* the rest of the session */
	struct nvdebug_mem *mem;
	struct nvdebug_table_cache *tables;
	struct nvdebug_pramin *pramin;

	struct nvdebug_bar bar[2];	/* BAR2, BAR1 */
	u32 budget;		/* entries that may still be read */
	u32 lookups_left;	/* including cached ones */
	bool settled;		/* all scans are complete */
	/* Mapped pages, replaced round-robin. */
	struct {
		resource_size_t phys;
		void __iomem *page;
	} mapping[NVDEBUG_BAR_MAPPINGS];
	u32 next_mapping;
};

void nvdebug_bars_init(struct nvdebug_bars *bars, struct nvdebug_mem *mem,
		       struct nvdebug_table_cache *tables,
		       struct nvdebug_pramin *pramin);
void nvdebug_bars_free(struct nvdebug_bars *bars);

/* A mapped range of a BAR, up to the end of its page. */
struct nvdebug_bar_place {
	void __iomem *at;
	size_t words;
};

/*
 * Find @addr of video memory in a BAR, scanning page tables if needed, without
 * moving the PRAMIN window. @place is valid until the next call. -ENOENT if no
 * BAR maps it.
 */
int __must_check nvdebug_bar_find(struct nvdebug_bars *bars, u64 addr,
				  struct nvdebug_bar_place *place);

#endif
