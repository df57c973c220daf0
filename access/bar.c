// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * A page's offset in BAR1 or BAR2 is found by scanning the BAR's page tables,
 * as far as they can be read without moving the PRAMIN window. Unmapped BAR
 * addresses are never accessed: that would be an MMU fault for the driver to
 * handle. A driver may remove a mapping between search and use, since entries
 * are not read again; a session lasts milliseconds.
 */
#include <linux/errno.h>
#include <linux/interval_tree_generic.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "access/bar.h"
#include "access/device.h"
#include "access/pramin.h"
#include "access/sysmem.h"
#include "access/table_cache.h"
#include "chips/chips.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "decode/instance.h"
#include "decode/mmu.h"
#include "decode/register.h"
#include "decode/words.h"
#include "hw/ram.h"
#include "hw/ramin.h"
#include "mmu.h"

/*
 * Page table entries that the searches of one session may read: few if the
 * window may be moved, which is cheaper; else all that BAR2 can have (32 MiB in
 * 4 KiB pages), and as many of BAR1.
 */
#define BUDGET_MOVABLE	160
#define BUDGET_FIXED	32768
/* The same, including cached entries. */
#define LOOKUPS		(4 * BUDGET_FIXED)
/* Scans of a BAR, in case more tables have become readable. */
#define PASSES		3
/* Words of a table to read at once: a chunk of table_cache.c. */
#define RUN_WORDS	64

/* A range that is contiguous in both video memory and the BAR. */
struct nvdebug_extent {
	struct rb_node rb;
	u64 first;	/* in video memory */
	u64 last;
	u64 last_below;	/* interval tree: subtree's last */
	u64 offset;	/* of first, in the BAR */
};

#define EXTENT_FIRST(e)	((e)->first)
#define EXTENT_LAST(e)	((e)->last)

INTERVAL_TREE_DEFINE(struct nvdebug_extent, rb, u64, last_below, EXTENT_FIRST,
		     EXTENT_LAST, static inline, extent)

void nvdebug_bars_init(struct nvdebug_bars *bars, struct nvdebug_mem *mem,
		       struct nvdebug_table_cache *tables,
		       struct nvdebug_pramin *pramin)
{
	int i;

	bars->mem = mem;
	bars->tables = tables;
	bars->pramin = pramin;
	for (i = 0; i < ARRAY_SIZE(bars->bar); i++)
		bars->bar[i].found = RB_ROOT_CACHED;
	bars->budget = nvdebug_pramin_may_move(pramin) ? BUDGET_MOVABLE :
							 BUDGET_FIXED;
	bars->lookups_left = LOOKUPS;
}

void nvdebug_bars_free(struct nvdebug_bars *bars)
{
	struct nvdebug_extent *extent, *next;
	int i;

	for (i = 0; i < NVDEBUG_BAR_MAPPINGS; i++)
		if (bars->mapping[i].page)
			iounmap(bars->mapping[i].page);
	for (i = 0; i < ARRAY_SIZE(bars->bar); i++)
		rbtree_postorder_for_each_entry_safe(extent, next,
						     &bars->bar[i].found.rb_root,
						     rb)
			kfree(extent);
}

/* Add a leaf of the page tables. Returns true if it was not known. */
static bool bar_add_extent(struct nvdebug_bar *bar,
			   const struct nvdebug_mmu_leaf *leaf)
{
	u64 last = leaf->addr + leaf->size - 1;
	struct nvdebug_extent *e = bar->last;

	if (e && leaf->addr == e->last + 1 &&
	    leaf->va == e->offset + (leaf->addr - e->first)) {
		extent_remove(e, &bar->found);
		e->last = last;
		extent_insert(e, &bar->found);
		return true;
	}
	for (e = extent_iter_first(&bar->found, leaf->addr, last); e;
	     e = extent_iter_next(e, leaf->addr, last))
		if (leaf->addr >= e->first && last <= e->last)
			return false;

	e = kzalloc(sizeof(*e), GFP_KERNEL_ACCOUNT);
	if (!e)
		return false;
	e->first = leaf->addr;
	e->last = last;
	e->offset = leaf->va;
	extent_insert(e, &bar->found);
	bar->last = e;
	return true;
}

/* Offset of @addr in the BAR, by the extents found so far. */
static bool bar_look_up(struct nvdebug_bar *bar, u64 addr, u64 *offset)
{
	struct nvdebug_extent *e;

	switch (bar->state) {
	case NVDEBUG_BAR_PHYSICAL:
		*offset = addr;
		return round_down(addr, SZ_4K) < bar->size;
	case NVDEBUG_BAR_VIRTUAL:
		e = extent_iter_first(&bar->found, addr, addr);
		if (e)
			*offset = e->offset + (addr - e->first);
		return e;
	default:
		return false;
	}
}

/* Read whether the BAR is physical or virtual. */
static void bar_probe(struct nvdebug_bars *bars, int number,
		      struct nvdebug_bar *bar)
{
	const struct nvdebug_gpu *gpu = bars->mem->gpu;
	const struct resource *resource = nvdebug_device(gpu)->bar[number];

	bar->state = NVDEBUG_BAR_UNUSABLE;
	if (!resource || !resource->start)
		return;
	bar->start = resource->start;
	bar->size = resource_size(resource);
	if (gpu->chip->bars->block(bars->mem->gpu, number, &bar->block) ||
	    bar->block.busy)
		return;
	if (!bar->block.is_virtual) {
		bar->state = NVDEBUG_BAR_PHYSICAL;
		return;
	}
	if (bar->block.halved)
		bar->size /= 2;
	bar->state = NVDEBUG_BAR_VIRTUAL;
}

/* Map the page at @phys; recently used mappings are kept. */
static void __iomem *bar_map_page(struct nvdebug_bars *bars,
				  resource_size_t phys)
{
	void __iomem *page;
	int i;

	for (i = 0; i < NVDEBUG_BAR_MAPPINGS; i++)
		if (bars->mapping[i].page && bars->mapping[i].phys == phys)
			return bars->mapping[i].page;

	page = ioremap_wc(phys, SZ_4K);
	if (!page)
		return NULL;
	i = bars->next_mapping++ % NVDEBUG_BAR_MAPPINGS;
	if (bars->mapping[i].page)
		iounmap(bars->mapping[i].page);
	bars->mapping[i].page = page;
	bars->mapping[i].phys = phys;
	return page;
}

/* Find @addr in either BAR, by the extents found so far. */
static bool bars_find_known(struct nvdebug_bars *bars, u64 addr,
			    struct nvdebug_bar_place *place)
{
	u32 in_page = addr & (SZ_4K - 1);
	void __iomem *page;
	u64 offset;
	int i;

	for (i = 0; i < ARRAY_SIZE(bars->bar); i++) {
		struct nvdebug_bar *bar = &bars->bar[i];

		if (!bar_look_up(bar, addr, &offset))
			continue;
		page = bar_map_page(bars,
				    bar->start + round_down(offset, SZ_4K));
		if (!page)
			continue;
		place->at = page + in_page;
		place->words = (SZ_4K - in_page) / sizeof(u32);
		return true;
	}
	return false;
}

/* Read through the PRAMIN window at its current position. */
static bool read_standing_window(struct nvdebug_bars *bars, u64 addr, u32 *buf,
				 size_t words)
{
	struct nvdebug_pramin *p = bars->pramin;
	struct nvdebug_mem_request req = {
		.addr = addr,
		.words = words,
		.buf = buf,
		.progress = { .piece = words },
	};
	LIST_HEAD(list);
	int ret;

	if (p->error ||
	    nvdebug_pramin_shows(p, p->standing, addr) < words * sizeof(u32))
		return false;
	list_add(&req.node, &list);
	ret = nvdebug_pramin_read(p, p->standing, &list);
	if (ret == -EAGAIN)
		nvdebug_pramin_look(p);
	return !ret;
}

static bool bar_read_words(struct nvdebug_bars *bars, u64 addr, u32 *buf,
			   size_t words)
{
	struct nvdebug_bar_place place;
	size_t i;

	if (!bars_find_known(bars, addr, &place) || place.words < words)
		return false;
	for (i = 0; i < words; i++)
		buf[i] = readl(place.at + i * sizeof(u32));
	return true;
}

/* Is any word not an error code of the register bus? */
static bool is_answer(const u32 *buf, size_t words)
{
	size_t i;

	for (i = 0; i < words; i++)
		if (!nvdebug_reg_value_check(buf[i]))
			return true;
	return false;
}

/* Read words of a table without moving the window. */
static bool table_read_in_reach(struct nvdebug_bars *bars, u8 aperture,
				u64 addr, u32 *buf, size_t words)
{
	if (aperture != NV_APERTURE_VID)
		return !nvdebug_sysmem_read(bars->mem->gpu, addr, buf, words);
	return (bar_read_words(bars, addr, buf, words) ||
		read_standing_window(bars, addr, buf, words)) &&
	       is_answer(buf, words);
}

/*
 * Get @words of a table, reading ahead up to @run words. *@reads: words that
 * were not cached.
 */
static bool table_get_words(struct nvdebug_bars *bars, u8 aperture, u64 addr,
			    u32 *buf, size_t words, size_t run, size_t *reads)
{
	struct nvdebug_table_cache *tables = bars->tables;
	u32 ahead[RUN_WORDS], word;
	size_t n = words;

	*reads = 0;
	if (nvdebug_table_cache_get(tables, aperture, addr, buf, words) == words)
		return true;

	/* stay within a chunk, and stop at the first cached word */
	run = min_t(size_t, run,
		    RUN_WORDS - addr / sizeof(u32) % RUN_WORDS);
	while (n < run &&
	       !nvdebug_table_cache_get(tables, aperture,
					addr + n * sizeof(u32), &word, 1))
		n++;
	if (!table_read_in_reach(bars, aperture, addr, ahead, n))
		return false;
	nvdebug_table_cache_put(tables, aperture, addr, ahead, n);
	memcpy(buf, ahead, words * sizeof(u32));
	*reads = n;
	return true;
}

/* Slot of word @number in @word, as ordered by @runs. */
static u32 *runs_word_slot(const struct nvdebug_runs *runs, u32 *word,
			   u32 number)
{
	const struct nvdebug_words *run = runs->run;

	while (number < run->first || number - run->first >= run->count)
		word += run++->count;
	return word + (number - run->first);
}

/* A BAR's instance block holds nothing but the page directory. */
static bool bar_start_pass(struct nvdebug_bars *bars, struct nvdebug_bar *bar)
{
	const struct nvdebug_instance_layout *layout = bars->mem->gpu->chip->instance;
	const struct nvdebug_mmu_format *format;
	u32 words[NVDEBUG_INSTANCE_WORDS] = { };
	u64 addr = bar->block.inst + NV_RAMIN_PAGE_DIR_BASE * sizeof(u32);
	struct nvdebug_instance inst;
	size_t reads;

	bar->passes++;
	bar->skipped = false;
	bar->found_new = false;
	if (!table_get_words(bars, bar->block.aperture, addr,
			     runs_word_slot(&layout->runs, words,
					    NV_RAMIN_PAGE_DIR_BASE),
			     2, 2, &reads) ||
	    nvdebug_instance_decode(layout, words,
				    nvdebug_runs_words(&layout->runs), &inst) ||
	    nvdebug_mmu_format(bars->mem, inst.version, inst.big_page_kib,
			       &format))
		return false;
	nvdebug_scan_start(&bar->scan, format, inst.dir.addr, inst.dir.aperture,
			   bar->size, bars->mem->gpu->video_memory, 0);
	return true;
}

/* Continue the scan until @addr is found or the budget is spent. */
static bool bar_search(struct nvdebug_bars *bars, struct nvdebug_bar *bar,
		       u64 addr)
{
	struct nvdebug_scan *scan = &bar->scan;
	struct nvdebug_mmu_leaf leaf;
	u32 buf[NVDEBUG_MMU_ENTRY_WORDS], words;
	size_t reads;
	u8 aperture;
	u64 at;

	while (bars->budget && bars->lookups_left) {
		bars->lookups_left--;
		scan->budget = 1;
		if (!nvdebug_scan_wants(scan, &at, &aperture, &words) ||
		    (!bars->pramin->insist &&
		     nvdebug_gpu_check_stop(bars->mem->gpu)))
			return false;
		if (!table_get_words(bars, aperture, at, buf, words,
				     nvdebug_scan_run(scan) * words, &reads)) {
			bar->skipped = true;
			nvdebug_scan_skip(scan);
			continue;
		}
		bars->budget -= min_t(u32, bars->budget, reads / words);
		if (nvdebug_scan_feed(scan, buf, &leaf) &&
		    leaf.aperture == NV_APERTURE_VID &&
		    bar_add_extent(bar, &leaf)) {
			bar->found_new = true;
			if (addr >= leaf.addr && addr - leaf.addr < leaf.size)
				return true;
		}
		cond_resched();
	}
	return false;
}

/* Scan again as long as new extents may have made tables readable. */
static bool bar_search_passes(struct nvdebug_bars *bars,
			      struct nvdebug_bar *bar, u64 addr)
{
	if (bar->state != NVDEBUG_BAR_VIRTUAL)
		return false;
	if (!bar->passes && !bar_start_pass(bars, bar))
		return false;
	while (!bar_search(bars, bar, addr)) {
		if (!bar->skipped || !bar->found_new || bar->passes == PASSES ||
		    !bar_start_pass(bars, bar))
			return false;
	}
	return true;
}

int nvdebug_bar_find(struct nvdebug_bars *bars, u64 addr,
		     struct nvdebug_bar_place *place)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(bars->bar); i++)
		if (bars->bar[i].state == NVDEBUG_BAR_UNKNOWN)
			bar_probe(bars, ARRAY_SIZE(bars->bar) - i,
				  &bars->bar[i]);
	if (bars_find_known(bars, addr, place))
		return 0;
	for (i = 0; i < ARRAY_SIZE(bars->bar) && !bars->settled; i++)
		if (bar_search_passes(bars, &bars->bar[i], addr))
			return bars_find_known(bars, addr, place) ? 0 : -ENOENT;
	bars->settled = true;
	return -ENOENT;
}
