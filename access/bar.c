// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * A page's offset in BAR1 or BAR2 is found by scanning the BAR's page tables,
 * as far as they can be read without moving the PRAMIN window. An access to an
 * unmapped page is an MMU fault for the driver to handle, and a driver may
 * remove a mapping at any time: so where a page was found is a hint, even for
 * later sessions, and the entries that lead there are read again before it is
 * used.
 */
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/interval_tree_generic.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "access/bar.h"
#include "access/change.h"
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
#include "decode/word_ranges.h"
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

/* Directories are not read again for that long. */
#define TRUST_MS	10
/* Extents to keep for the next session. */
#define FINDS_MAX	8192

/* A range that is contiguous in both video memory and the BAR. */
struct nvdebug_extent {
	struct rb_node rb;
	u64 first;	/* in video memory */
	u64 last;
	u64 last_below;	/* interval tree: subtree's last */
	u64 offset;	/* of first, in the BAR */
	u32 session;	/* that found it */
};

#define EXTENT_FIRST(e)	((e)->first)
#define EXTENT_LAST(e)	((e)->last)

INTERVAL_TREE_DEFINE(struct nvdebug_extent, rb, u64, last_below, EXTENT_FIRST,
		     EXTENT_LAST, static inline, extent)

/* The extents of both BARs. */
struct nvdebug_bar_finds {
	struct rb_root_cached found[2];
	u32 count;
	u32 session;	/* number of the current one */
	u32 driver_changes;	/* when they were found */
};

void nvdebug_bar_finds_free(struct nvdebug_bar_finds *finds)
{
	struct nvdebug_extent *extent, *next;
	int i;

	for (i = 0; finds && i < ARRAY_SIZE(finds->found); i++)
		rbtree_postorder_for_each_entry_safe(extent, next,
						     &finds->found[i].rb_root,
						     rb)
			kfree(extent);
	kfree(finds);
}

void nvdebug_bars_init(struct nvdebug_bars *bars, struct nvdebug_mem *mem,
		       struct nvdebug_table_cache *tables,
		       struct nvdebug_pramin *pramin)
{
	struct nvdebug_device *device = nvdebug_device(mem->gpu);
	int i;

	bars->mem = mem;
	bars->tables = tables;
	bars->pramin = pramin;
	bars->finds = xchg(&device->bar_finds, NULL);
	/* Page tables of BARs are the driver's. */
	if (bars->finds &&
	    bars->finds->driver_changes != device->driver_changes) {
		nvdebug_bar_finds_free(bars->finds);
		bars->finds = NULL;
	}
	for (i = 0; i < ARRAY_SIZE(bars->bar) && bars->finds; i++)
		bars->bar[i].found = &bars->finds->found[i];
	bars->budget = nvdebug_pramin_may_move(pramin) ? BUDGET_MOVABLE :
							 BUDGET_FIXED;
	bars->lookups_left = LOOKUPS;
}

void nvdebug_bars_free(struct nvdebug_bars *bars)
{
	struct nvdebug_bar_finds *finds = bars->finds;
	int i;

	for (i = 0; i < NVDEBUG_BAR_MAPPINGS; i++)
		if (bars->mapping[i].page)
			iounmap(bars->mapping[i].page);
	if (finds)
		finds->session++;
	if (finds && finds->count <= FINDS_MAX)
		finds = xchg(&nvdebug_device(bars->mem->gpu)->bar_finds, finds);
	nvdebug_bar_finds_free(finds);
}

/* On the first use of BARs. */
static bool bars_have_finds(struct nvdebug_bars *bars)
{
	int i;

	if (bars->finds)
		return true;
	bars->finds = kzalloc(sizeof(*bars->finds), GFP_KERNEL);
	for (i = 0; i < ARRAY_SIZE(bars->bar) && bars->finds; i++) {
		bars->finds->found[i] = RB_ROOT_CACHED;
		bars->bar[i].found = &bars->finds->found[i];
	}
	if (bars->finds)
		bars->finds->driver_changes =
			nvdebug_device(bars->mem->gpu)->driver_changes;
	return bars->finds;
}

static void bar_remove_extent(struct nvdebug_bars *bars, struct nvdebug_bar *bar,
			      struct nvdebug_extent *e)
{
	extent_remove(e, bar->found);
	if (bar->last == e)
		bar->last = NULL;
	bars->finds->count--;
	kfree(e);
}

static struct nvdebug_extent *bar_insert_extent(struct nvdebug_bars *bars,
						struct nvdebug_bar *bar,
						u64 first, u64 last, u64 offset,
						u32 session)
{
	struct nvdebug_extent *e = kzalloc(sizeof(*e), GFP_KERNEL_ACCOUNT);

	if (!e)
		return NULL;
	e->first = first;
	e->last = last;
	e->offset = offset;
	e->session = session;
	extent_insert(e, bar->found);
	bars->finds->count++;
	return e;
}

/* Add a leaf of the page tables. Returns true if this session had not found it. */
static bool bar_add_extent(struct nvdebug_bars *bars, struct nvdebug_bar *bar,
			   const struct nvdebug_mmu_leaf *leaf)
{
	u64 last = leaf->addr + leaf->size - 1;
	struct nvdebug_extent *e, *next;

	for (e = extent_iter_first(bar->found, leaf->addr, last); e; e = next) {
		next = extent_iter_next(e, leaf->addr, last);
		if (e->session != bars->finds->session)
			bar_remove_extent(bars, bar, e);
		else if (leaf->addr >= e->first && last <= e->last)
			return false;
	}

	e = bar->last;
	if (e && leaf->addr == e->last + 1 &&
	    leaf->va == e->offset + (leaf->addr - e->first)) {
		extent_remove(e, bar->found);
		e->last = last;
		extent_insert(e, bar->found);
		return true;
	}
	e = bar_insert_extent(bars, bar, leaf->addr, last, leaf->va,
			      bars->finds->session);
	if (e)
		bar->last = e;
	return e;
}

/* Leave what @e has before @first and after @last. */
static void bar_cut_extent(struct nvdebug_bars *bars, struct nvdebug_bar *bar,
			   struct nvdebug_extent *e, u64 first, u64 last)
{
	const struct nvdebug_extent was = *e;

	bar_remove_extent(bars, bar, e);
	if (was.first < first)
		bar_insert_extent(bars, bar, was.first, first - 1, was.offset,
				  was.session);
	if (was.last > last)
		bar_insert_extent(bars, bar, last + 1, was.last,
				  was.offset + (last + 1 - was.first),
				  was.session);
}

/* Forget that the page of @addr is at @offset in the BAR. */
static void bar_forget(struct nvdebug_bars *bars, struct nvdebug_bar *bar,
		       u64 addr, u64 offset)
{
	u64 first = round_down(addr, SZ_4K);
	struct nvdebug_extent *e, *next;

	if (bar->state != NVDEBUG_BAR_VIRTUAL) {
		bar->state = NVDEBUG_BAR_UNUSABLE;
		return;
	}
	for (e = extent_iter_first(bar->found, addr, addr); e; e = next) {
		next = extent_iter_next(e, addr, addr);
		if (e->offset + (addr - e->first) == offset)
			bar_cut_extent(bars, bar, e, first, first + SZ_4K - 1);
	}
}

/*
 * Offset of @addr in the BAR, by the extents found so far, or only by this
 * session (@session; NULL: any).
 */
static bool bar_look_up(const struct nvdebug_bar *bar, u64 addr,
			const u32 *session, u64 *offset)
{
	struct nvdebug_extent *e;

	switch (bar->state) {
	case NVDEBUG_BAR_PHYSICAL:
		*offset = addr;
		return round_down(addr, SZ_4K) < bar->size;
	case NVDEBUG_BAR_VIRTUAL:
		e = extent_iter_first(bar->found, addr, addr);
		while (e && session && e->session != *session)
			e = extent_iter_next(e, addr, addr);
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

/* The page at @phys, if it is mapped. */
static void __iomem *bar_mapped_page(struct nvdebug_bars *bars,
				     resource_size_t phys)
{
	int i;

	for (i = 0; i < NVDEBUG_BAR_MAPPINGS; i++)
		if (bars->mapping[i].page && bars->mapping[i].phys == phys) {
			bars->mapping[i].used = ++bars->mappings_used;
			return bars->mapping[i].page;
		}
	return NULL;
}

/* Map the page at @phys; recently used mappings are kept. */
static void __iomem *bar_map_page(struct nvdebug_bars *bars,
				  resource_size_t phys)
{
	void __iomem *page = bar_mapped_page(bars, phys);
	int i, oldest = 0;

	if (page)
		return page;
	page = ioremap_wc(phys, SZ_4K);
	if (!page)
		return NULL;
	for (i = 1; i < NVDEBUG_BAR_MAPPINGS; i++)
		if (bars->mapping[i].used < bars->mapping[oldest].used)
			oldest = i;
	if (bars->mapping[oldest].page)
		iounmap(bars->mapping[oldest].page);
	bars->mapping[oldest].page = page;
	bars->mapping[oldest].phys = phys;
	bars->mapping[oldest].used = ++bars->mappings_used;
	return page;
}

/* How to find a place by extents. */
#define FIND_OF_SESSION	BIT(0)	/* by those that this session found */
#define FIND_MAPPED	BIT(1)	/* in pages that the CPU has mapped */

/* Find @addr in either BAR, by the extents found so far. */
static bool bars_find_known(struct nvdebug_bars *bars, u64 addr,
			    struct nvdebug_bar_place *place, u32 how)
{
	const u32 *session = how & FIND_OF_SESSION ? &bars->finds->session :
						     NULL;
	u32 in_page = addr & (SZ_4K - 1);
	resource_size_t phys;
	void __iomem *page;
	u64 offset;
	int i;

	for (i = 0; i < ARRAY_SIZE(bars->bar); i++) {
		struct nvdebug_bar *bar = &bars->bar[i];

		if (!bar_look_up(bar, addr, session, &offset))
			continue;
		phys = bar->start + round_down(offset, SZ_4K);
		page = how & FIND_MAPPED ? bar_mapped_page(bars, phys) :
					   bar_map_page(bars, phys);
		if (!page) {
			if (!(how & FIND_MAPPED))
				bar_forget(bars, bar, addr, offset);
			continue;
		}
		place->at = page + in_page;
		place->words = (SZ_4K - in_page) / sizeof(u32);
		place->addr = addr;
		place->bar = bar;
		place->offset = offset;
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
	    nvdebug_pramin_covers(p, p->standing, addr) < words * sizeof(u32))
		return false;
	list_add(&req.node, &list);
	ret = nvdebug_pramin_read(p, p->standing, &list);
	if (ret == -EAGAIN)
		nvdebug_pramin_read_register(p);
	return !ret;
}

static bool bar_read_words(struct nvdebug_bars *bars, u64 addr, u32 *buf,
			   size_t words)
{
	struct nvdebug_bar_place place;
	size_t i;

	if (!bars_find_known(bars, addr, &place, FIND_OF_SESSION) ||
	    place.words < words)
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

/* Slot of word @number in @word, as ordered by @ranges. */
static u32 *ranges_word_slot(const struct nvdebug_word_ranges *ranges,
			     u32 *word, u32 number)
{
	const struct nvdebug_word_range *range = ranges->range;

	while (number < range->first || number - range->first >= range->count)
		word += range++->count;
	return word + (number - range->first);
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
			     ranges_word_slot(&layout->ranges, words,
					      NV_RAMIN_PAGE_DIR_BASE),
			     2, 2, &reads) ||
	    nvdebug_instance_decode(layout, words,
				    nvdebug_ranges_words(&layout->ranges),
				    &inst) ||
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
		    (!bars->pramin->restoring &&
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
		    bar_add_extent(bars, bar, &leaf)) {
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

	if (!bars_have_finds(bars))
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(bars->bar); i++) {
		if (bars->bar[i].state == NVDEBUG_BAR_UNKNOWN)
			bar_probe(bars, ARRAY_SIZE(bars->bar) - i,
				  &bars->bar[i]);
		if (bars_find_known(bars, addr, place, 0))
			return 0;
	}
	for (i = 0; i < ARRAY_SIZE(bars->bar) && !bars->settled; i++)
		if (bar_search_passes(bars, &bars->bar[i], addr))
			return bars_find_known(bars, addr, place, 0) ? 0 :
								       -ENOENT;
	bars->settled = true;
	return -ENOENT;
}

bool nvdebug_bar_is_known(const struct nvdebug_bars *bars, u64 addr)
{
	u64 offset;

	return bar_look_up(&bars->bar[0], addr, NULL, &offset) ||
	       bar_look_up(&bars->bar[1], addr, NULL, &offset);
}

/* How the entries that lead to a page are read again. */
struct bar_check {
	struct nvdebug_bars *bars;
	bool irqs_off;	/* nothing may sleep, and nothing is trusted */
	bool used_window;
	bool moved;	/* the window, since its register was read */
};

static struct nvdebug_bar_entry *entry_find(struct nvdebug_bars *bars,
					    u8 aperture, u64 addr)
{
	u32 i;

	for (i = 0; i < bars->entries; i++)
		if (bars->entry[i].addr == addr &&
		    bars->entry[i].aperture == aperture)
			return &bars->entry[i];
	return NULL;
}

/* An entry that can be replaced: a page's, which is read again in any case. */
static struct nvdebug_bar_entry *entry_find_spare(struct nvdebug_bars *bars)
{
	u32 i;

	for (i = 0; i < bars->entries; i++)
		if (!bars->entry[i].is_table &&
		    bars->entry[i].aperture == NV_APERTURE_VID)
			return &bars->entry[i];
	return NULL;
}

/* The entry at @addr, else one to replace: a spare one, or the oldest. */
static struct nvdebug_bar_entry *entry_renew(struct nvdebug_bars *bars,
					     u8 aperture, u64 addr)
{
	struct nvdebug_bar_entry *e = entry_find(bars, aperture, addr);

	if (!e)
		e = entry_find_spare(bars);
	if (!e && bars->entries < NVDEBUG_BAR_ENTRIES)
		e = &bars->entry[bars->entries++];
	if (!e)
		e = &bars->entry[bars->next_entry++ % NVDEBUG_BAR_ENTRIES];
	e->addr = addr;
	e->aperture = aperture;
	e->is_table = false;
	return e;
}

/* Words of a table in video memory, by window or BAR. */
static bool check_read_video(struct bar_check *check, u64 addr, u32 *buf,
			     size_t words)
{
	struct nvdebug_bars *bars = check->bars;
	struct nvdebug_pramin *p = bars->pramin;
	struct nvdebug_bar_place place;
	size_t i;

	if (!p->error &&
	    nvdebug_pramin_covers(p, p->standing, addr) >= words * sizeof(u32)) {
		if (!check->used_window)
			check->moved = !nvdebug_pramin_is_unmoved(p);
		check->used_window = true;
		if (check->moved)
			return false;
		for (i = 0; i < words; i++)
			buf[i] = nvdebug_pramin_word(p, addr + i * sizeof(u32));
		/* it may have been moved and put back, as for a burst */
		for (i = 0; i < words && nvdebug_pramin_is_shared(p); i++)
			check->moved |= buf[i] !=
				nvdebug_pramin_word(p, addr + i * sizeof(u32));
		return !check->moved && is_answer(buf, words);
	}
	/* mapping a page may sleep: the check before this one has done it */
	if (!bars_find_known(bars, addr, &place, FIND_OF_SESSION |
			     (check->irqs_off ? FIND_MAPPED : 0)) ||
	    place.words < words)
		return false;
	for (i = 0; i < words; i++)
		buf[i] = readl(place.at + i * sizeof(u32));
	return is_answer(buf, words);
}

static struct nvdebug_bar_entry *check_read_entry(struct bar_check *check,
						  u8 aperture, u64 addr,
						  size_t words)
{
	struct nvdebug_bars *bars = check->bars;
	bool in_video = aperture == NV_APERTURE_VID;
	struct nvdebug_bar_entry *e = entry_find(bars, aperture, addr);
	u32 buf[NVDEBUG_MMU_ENTRY_WORDS];

	if (e && (check->irqs_off ? !in_video : e->is_table))
		return e;
	if (in_video ? !check_read_video(check, addr, buf, words) :
		       check->irqs_off ||
		       nvdebug_sysmem_read(bars->mem->gpu, addr, buf, words))
		return NULL;
	e = entry_renew(bars, aperture, addr);
	memcpy(e->word, buf, words * sizeof(u32));
	return e;
}

/* The root of the BAR's page tables. */
static bool check_root(struct bar_check *check, const struct nvdebug_bar *bar,
		       struct nvdebug_instance *inst)
{
	struct nvdebug_bars *bars = check->bars;
	const struct nvdebug_instance_layout *layout = bars->mem->gpu->chip->instance;
	u32 words[NVDEBUG_INSTANCE_WORDS] = { };
	struct nvdebug_bar_entry *e;

	e = check_read_entry(check, bar->block.aperture, bar->block.inst +
			     NV_RAMIN_PAGE_DIR_BASE * sizeof(u32), 2);
	if (!e)
		return false;
	e->is_table = true;
	memcpy(ranges_word_slot(&layout->ranges, words, NV_RAMIN_PAGE_DIR_BASE),
	       e->word, 2 * sizeof(u32));
	return !nvdebug_instance_decode(layout, words,
					nvdebug_ranges_words(&layout->ranges),
					inst);
}

/* Do the BAR's page tables still map @place? */
static bool check_walk(struct bar_check *check,
		       const struct nvdebug_bar_place *place)
{
	struct nvdebug_bars *bars = check->bars;
	const struct nvdebug_mmu_format *format;
	struct nvdebug_bar_entry *e;
	struct nvdebug_instance inst;
	struct nvdebug_walk walk;
	u8 aperture, meaning;
	u32 words;
	u64 at;

	if (!check_root(check, place->bar, &inst) ||
	    nvdebug_mmu_format(bars->mem, inst.version, inst.big_page_kib,
			       &format))
		return false;
	nvdebug_walk_start(&walk, format, inst.dir.addr, inst.dir.aperture,
			   place->offset);
	nvdebug_walk_limit(&walk, bars->mem->gpu->video_memory, 0);
	while (nvdebug_walk_wants(&walk, &at, &aperture, &words)) {
		e = check_read_entry(check, aperture, at, words);
		if (!e)
			return false;
		nvdebug_walk_feed(&walk, e->word);
		meaning = walk.step[walk.steps - 1].entry.meaning;
		e->is_table = meaning == NVDEBUG_MMU_TABLE ||
			      meaning == NVDEBUG_MMU_DUAL;
	}
	return walk.state == NVDEBUG_WALK_MAPPED &&
	       walk.aperture == NV_APERTURE_VID && walk.addr == place->addr;
}

/* Is the BAR's register as it was? */
static bool check_block(const struct bar_check *check,
			const struct nvdebug_bar_place *place)
{
	struct nvdebug_gpu *gpu = check->bars->mem->gpu;
	const struct nvdebug_bar_block *was = &place->bar->block;
	int number = place->bar == &check->bars->bar[0] ? 2 : 1;
	struct nvdebug_bar_block now;

	return !gpu->chip->bars->block(gpu, number, &now) && !now.busy &&
	       now.is_virtual == was->is_virtual && now.inst == was->inst &&
	       now.aperture == was->aperture && now.halved == was->halved;
}

static bool bars_are_trusted(const struct nvdebug_bars *bars)
{
	return bars->trust_words &&
	       ktime_before(ktime_get(), bars->trust_until);
}

/* From now on what is read again can be relied on for a while. */
static void bars_start_trust(struct nvdebug_bars *bars)
{
	int i;

	bars->entries = 0;
	for (i = 0; i < ARRAY_SIZE(bars->bar); i++)
		bars->bar[i].trusted = false;
	bars->trust_words = NVDEBUG_BAR_WORDS;
	bars->trust_until = ktime_add_ms(ktime_get(), TRUST_MS);
}

/* -ENOENT, -EAGAIN as nvdebug_bar_confirm(). */
static int bar_check(struct nvdebug_bars *bars,
		     const struct nvdebug_bar_place *place, bool irqs_off)
{
	struct bar_check check = { .bars = bars, .irqs_off = irqs_off };
	bool there;

	lockdep_assert_held(&bars->mem->gpu->lock);
	if (!irqs_off && !bars_are_trusted(bars))
		bars_start_trust(bars);
	if (irqs_off || !place->bar->trusted) {
		if (!check_block(&check, place)) {
			place->bar->state = NVDEBUG_BAR_UNUSABLE;
			return -ENOENT;
		}
		place->bar->trusted = true;
	}
	there = place->bar->state == NVDEBUG_BAR_PHYSICAL ||
		check_walk(&check, place);
	if (check.moved ||
	    (check.used_window && !nvdebug_pramin_is_unmoved(bars->pramin)))
		return -EAGAIN;
	return there ? 0 : -ENOENT;
}

int nvdebug_bar_confirm(struct nvdebug_bars *bars,
			const struct nvdebug_bar_place *place, size_t words)
{
	u64 page = round_down(place->offset, SZ_4K);
	int ret = 0;

	if (bars->trust_words < words)
		bars->trust_words = 0;
	if (bars->confirmed != place->bar || bars->confirmed_page != page ||
	    !bars_are_trusted(bars)) {
		bars->confirmed = NULL;
		ret = nvdebug_pramin_lock(bars->pramin);
		if (ret)
			return ret;
		ret = bar_check(bars, place, false);
		mutex_unlock(&bars->mem->gpu->lock);
	}
	if (!ret) {
		bars->confirmed = place->bar;
		bars->confirmed_page = page;
		bars->trust_words -= words;
	} else if (ret == -ENOENT) {
		bar_forget(bars, place->bar, place->addr, place->offset);
	} else if (ret == -EAGAIN) {
		nvdebug_pramin_read_register(bars->pramin);
	}
	return ret;
}

static int bar_write_locked(struct nvdebug_bars *bars,
			    const struct nvdebug_bar_place *place,
			    const struct nvdebug_mem_change *change)
{
	unsigned long flags;
	int ret;

	/* reads entries in system memory, and maps tables */
	bars->trust_words = 0;
	ret = bar_check(bars, place, false);
	if (ret)
		return ret;
	local_irq_save(flags);
	ret = bar_check(bars, place, true);
	if (!ret)
		ret = nvdebug_change_check(place->at, change);
	if (!ret) {
		writel(change->value, place->at);
		ret = readl(place->at) == change->value ? 0 : -EIO;
	}
	local_irq_restore(flags);
	return ret;
}

int nvdebug_bar_write(struct nvdebug_bars *bars,
		      const struct nvdebug_bar_place *place,
		      const struct nvdebug_mem_change *change)
{
	/* no other write of the module between compare and write */
	int ret = nvdebug_pramin_lock(bars->pramin);

	if (ret)
		return ret;
	ret = bar_write_locked(bars, place, change);
	mutex_unlock(&bars->mem->gpu->lock);
	if (ret == -ENOENT)
		bar_forget(bars, place->bar, place->addr, place->offset);
	return ret;
}
