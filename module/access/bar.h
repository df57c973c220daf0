/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * BAR1 and BAR2: PCI BARs onto video memory, directly or through page tables of
 * their own. Reading a page that these map has no side effects; one that they do
 * not is an MMU fault, which the driver has to handle. A driver may take any
 * page away at any time: see nvdebug_bar_confirm().
 */
#ifndef NVDEBUG_BAR_H
#define NVDEBUG_BAR_H

#include <linux/ktime.h>
#include <linux/types.h>

#include "access/bar_finds.h"
#include "decode/bar.h"
#include "decode/mmu.h"

struct nvdebug_instance;
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
	bool trusted;		/* its register was read again, see trust_words */

	/* the scan of its page tables, if VIRTUAL */
	u8 passes;		/* started so far */
	bool skipped;		/* this pass skipped unreadable tables */
	bool found_new;		/* this pass found new extents */
	struct nvdebug_scan scan;
};

#define NVDEBUG_BAR_MAPPINGS	16

/* An entry of a BAR's page tables, as read by nvdebug_bar_confirm(). */
struct nvdebug_bar_entry {
	u64 addr;
	u8 aperture;
	bool is_table;	/* leads to a table */
	u32 word[NVDEBUG_MMU_ENTRY_WORDS];
};

#define NVDEBUG_BAR_ENTRIES	32

struct nvdebug_bars {
	/* the rest of the session */
	struct nvdebug_mem *mem;
	struct nvdebug_table_cache *tables;
	struct nvdebug_pramin *pramin;

	struct nvdebug_bar bar[NVDEBUG_SCANNED_BARS];	/* BAR2, BAR1 */
	u32 budget;		/* entries that may still be read */
	u32 lookups_left;	/* including cached ones */
	bool settled;		/* all scans are complete */
	struct nvdebug_bar_finds *finds;
	/* Read recently, replaced round-robin. */
	struct nvdebug_bar_entry entry[NVDEBUG_BAR_ENTRIES];
	u32 entries;
	u32 next_entry;
	u32 trust_words;	/* how many more may be read on their strength */
	ktime_t trust_until;
	/* the page that was confirmed last, while these hold; NULL: none */
	const struct nvdebug_bar *confirmed;
	u64 confirmed_page;	/* offset in the BAR */
	/* Mapped pages; the one that was used last longest ago is replaced. */
	struct {
		resource_size_t phys;
		void __iomem *page;
		u64 used;
	} mapping[NVDEBUG_BAR_MAPPINGS];
	u64 mappings_used;
};

void nvdebug_bars_init(struct nvdebug_bars *bars, struct nvdebug_mem *mem,
		       struct nvdebug_table_cache *tables,
		       struct nvdebug_pramin *pramin);
/* What was found is kept for the next session. */
void nvdebug_bars_free(struct nvdebug_bars *bars);

/* A range of a BAR, up to the end of its page. */
struct nvdebug_bar_place {
	void __iomem *at;
	size_t words;
	u64 addr;	/* in video memory */
	struct nvdebug_bar *bar;
	u64 offset;	/* in the BAR */
};

/*
 * Find @addr of video memory in a BAR, scanning page tables if needed, without
 * moving the PRAMIN window. @place is valid until the next call; it must be
 * confirmed before it is accessed. -ENOENT if no BAR maps it.
 */
int __must_check nvdebug_bar_find(struct nvdebug_bars *bars, u64 addr,
				  struct nvdebug_bar_place *place);
/* Was @addr found in a BAR, and not lost since? Accesses nothing. */
bool nvdebug_bar_is_known(const struct nvdebug_bars *bars, u64 addr);

/* Forget that the page of @addr is at @offset in the BAR. */
void nvdebug_bar_forget(struct nvdebug_bars *bars, struct nvdebug_bar *bar,
			u64 addr, u64 offset);

/*
 * Read words where this session found them; if @mapped, only in a page that the
 * CPU has mapped, without sleeping. Returns false if they are not there.
 */
bool nvdebug_bar_read_words(struct nvdebug_bars *bars, u64 addr, u32 *buf,
			    size_t words, bool mapped);
/* Is any word not an error code of the register bus? */
bool nvdebug_bar_is_answer(const u32 *buf, size_t words);

/* A BAR's instance block holds nothing but the page directory: so many words. */
#define NVDEBUG_BAR_ROOT_WORDS	2
u64 nvdebug_bar_root_addr(const struct nvdebug_bar *bar);
/* Returns false if it is none. */
bool nvdebug_bar_decode_root(struct nvdebug_bars *bars, const u32 *root,
			     struct nvdebug_instance *inst,
			     const struct nvdebug_mmu_format **format);

#endif
