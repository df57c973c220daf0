/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * BAR1 and BAR2: PCI BARs that show video memory, directly or through page
 * tables of their own. Reading through them disturbs nobody.
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

/* One of them, as far as a session knows it. */
struct nvdebug_bar {
	enum {
		NVDEBUG_BAR_UNKNOWN,	/* not looked at yet */
		NVDEBUG_BAR_UNUSABLE,
		NVDEBUG_BAR_PHYSICAL,
		NVDEBUG_BAR_VIRTUAL,	/* found is what it maps, as far as known */
	} state;
	resource_size_t start;	/* in the CPU's address space */
	u64 size;		/* what of it may be used */
	struct nvdebug_bar_block block;

	/* the search, if VIRTUAL */
	u8 passes;		/* that were begun; 0: not started */
	bool skipped;		/* tables that could not be read, in this one */
	bool found_new;		/* something that might show them */
	struct nvdebug_scan scan;
	struct rb_root_cached found;	/* by address in video memory */
	struct nvdebug_extent *last;	/* that was found */
};

#define NVDEBUG_BAR_MAPPINGS	16

struct nvdebug_bars {
	/* the rest of the session */
	struct nvdebug_mem *mem;
	struct nvdebug_table_cache *tables;
	struct nvdebug_pramin *pramin;

	struct nvdebug_bar bar[2];	/* in the order in which to try them */
	u32 budget;		/* entries that searches may still read */
	u32 lookups_left;	/* and look at */
	bool settled;		/* nothing more can be found */
	/* Pages that are mapped, to be replaced in turn. */
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

/* A place where a BAR shows memory, to the end of the page at most. */
struct nvdebug_bar_place {
	void __iomem *at;
	size_t words;
};

/*
 * Where does a BAR show @addr of video memory? If that is not known yet,
 * search on, without moving the PRAMIN window. The place is good until the
 * next call. Returns -ENOENT if there is none.
 */
int __must_check nvdebug_bar_find(struct nvdebug_bars *bars, u64 addr,
				  struct nvdebug_bar_place *place);

#endif
