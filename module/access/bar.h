/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * BAR1 and BAR2 are PCI BARs onto video memory, directly or through page tables
 * of their own. Reading a page that a BAR maps has no side effects. Reading an
 * unmapped page is an MMU fault, which the driver has to handle. A driver may
 * unmap any page at any time: see nvdebug_bar_confirm().
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

/* The state of a BAR in a session. */
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
	/* The BAR's register was read again in the present period of trust. */
	bool trusted;

	/* The scan of the BAR's page tables, if it is VIRTUAL. */
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
	bool is_table;
	u32 word[NVDEBUG_MMU_ENTRY_WORDS];
};

#define NVDEBUG_BAR_ENTRIES	32

struct nvdebug_bars {
	/* Other parts of the same session. */
	struct nvdebug_mem *mem;
	struct nvdebug_table_cache *tables;
	struct nvdebug_pramin *pramin;

	struct nvdebug_bar bar[NVDEBUG_SCANNED_BARS];	/* BAR2, BAR1 */
	u32 budget;		/* entries that may still be read */
	u32 lookups_left;	/* including cached ones */
	bool settled;		/* all scans are complete */
	struct nvdebug_bar_finds *finds;
	/* Entries that were read recently, replaced round-robin. */
	struct nvdebug_bar_entry entry[NVDEBUG_BAR_ENTRIES];
	u32 entries;
	u32 next_entry;
	/* Words that may be read before the entries have to be read again. */
	u32 trust_words;
	ktime_t trust_until;
	/*
	 * The page that was confirmed last, while the entries are trusted, or
	 * NULL.
	 */
	const struct nvdebug_bar *confirmed;
	u64 confirmed_page;	/* offset in the BAR */
	/*
	 * Mapped pages. A new page replaces the one that was used longest ago.
	 */
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
/* Free the mappings. The places that were found stay for the next session. */
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
/*
 * Return whether @addr was found in a BAR, and not lost since. Accesses
 * nothing.
 */
bool nvdebug_bar_is_known(const struct nvdebug_bars *bars, u64 addr);

/* Forget that the page of @addr is at @offset in the BAR. */
void nvdebug_bar_forget(struct nvdebug_bars *bars, struct nvdebug_bar *bar,
			u64 addr, u64 offset);

/*
 * Read words from the place that this session found. If @mapped, only a page
 * that the CPU has mapped is read, without sleeping. Returns false if the words
 * are not there.
 */
bool nvdebug_bar_read_words(struct nvdebug_bars *bars, u64 addr, u32 *buf,
			    size_t words, bool mapped);
/* Return whether any word is not an error code of the register bus. */
bool nvdebug_bar_is_answer(const u32 *buf, size_t words);

/* Words of a BAR's instance block: it holds nothing but the page directory. */
#define NVDEBUG_BAR_ROOT_WORDS	2
u64 nvdebug_bar_root_addr(const struct nvdebug_bar *bar);
/* Decode the words of an instance block. Returns false if they are not one. */
bool nvdebug_bar_decode_root(struct nvdebug_bars *bars, const u32 *root,
			     struct nvdebug_instance *inst,
			     const struct nvdebug_mmu_format **format);

#endif
