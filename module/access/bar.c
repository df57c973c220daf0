// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * A page's offset in BAR1 or BAR2 is found by scanning the BAR's page tables,
 * as far as they can be read without moving the PRAMIN window. An access to an
 * unmapped page is an MMU fault for the driver to handle, and a driver may
 * remove a mapping at any time. So a place that was found is only a hint, even
 * for later sessions: the entries that lead to it are read again before it is
 * used.
 */
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "access/bar.h"
#include "access/bar_finds.h"
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
 * Page table entries that the searches of one session may read. They are few if
 * the window may be moved, which is cheaper. Otherwise they are all that BAR2
 * can have (32 MiB in 4 KiB pages), and as many of BAR1.
 */
#define BUDGET_MOVABLE	160
#define BUDGET_FIXED	32768
/*
 * Entries that the searches of one session may look at, cached ones included.
 */
#define LOOKUPS		(4 * BUDGET_FIXED)
/* A BAR is scanned again, since a scan may have made more tables readable. */
#define PASSES		3
/* Words of a table to read at once: a chunk of table_cache.c. */
#define RUN_WORDS	64

void nvdebug_bars_init(struct nvdebug_bars *bars, struct nvdebug_mem *mem,
		       struct nvdebug_table_cache *tables,
		       struct nvdebug_pramin *pramin)
{
	struct nvdebug_device *device = nvdebug_device(mem->gpu);

	bars->mem = mem;
	bars->tables = tables;
	bars->pramin = pramin;
	bars->finds = xchg(&device->bar_finds, NULL);
	if (bars->finds && !nvdebug_bar_finds_are_current(bars->finds,
							  device->driver_changes)) {
		nvdebug_bar_finds_free(bars->finds);
		bars->finds = NULL;
	}
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
	if (finds && nvdebug_bar_finds_end_session(finds))
		finds = xchg(&nvdebug_device(bars->mem->gpu)->bar_finds, finds);
	nvdebug_bar_finds_free(finds);
}

/* Return whether there is a store of finds; create it on the first use. */
static bool bars_have_finds(struct nvdebug_bars *bars)
{
	const struct nvdebug_device *device = nvdebug_device(bars->mem->gpu);

	if (!bars->finds)
		bars->finds = nvdebug_bar_finds_alloc(device->driver_changes);
	return bars->finds;
}

void nvdebug_bar_forget(struct nvdebug_bars *bars, struct nvdebug_bar *bar,
			u64 addr, u64 offset)
{
	if (bar->state == NVDEBUG_BAR_VIRTUAL)
		nvdebug_bar_finds_forget(bars->finds, bar - bars->bar, addr,
					 offset);
	else
		bar->state = NVDEBUG_BAR_UNUSABLE;
}

/*
 * Set @offset to the offset of @addr in the BAR. Returns false if it was not
 * found so far or, with @of_session, not by this session.
 */
static bool bar_look_up(const struct nvdebug_bars *bars, int i, u64 addr,
			bool of_session, u64 *offset)
{
	const struct nvdebug_bar *bar = &bars->bar[i];

	switch (bar->state) {
	case NVDEBUG_BAR_PHYSICAL:
		*offset = addr;
		break;
	case NVDEBUG_BAR_VIRTUAL:
		if (!nvdebug_bar_finds_look_up(bars->finds, i, addr,
					       of_session, offset))
			return false;
		break;
	default:
		return false;
	}
	/* The kernel may have resized the BAR since the page was found. */
	return round_down(*offset, SZ_4K) < bar->size;
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

/* Return the mapping of the page at @phys, or NULL. */
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

/* Flags that restrict the search for a place. */
#define FIND_OF_SESSION	BIT(0)	/* only as found by this session */
#define FIND_MAPPED	BIT(1)	/* in pages that the CPU has mapped */

/* Find @addr in either BAR among the places that were found so far. */
static bool bars_find_known(struct nvdebug_bars *bars, u64 addr,
			    struct nvdebug_bar_place *place, u32 how)
{
	u32 in_page = addr & (SZ_4K - 1);
	resource_size_t phys;
	void __iomem *page;
	u64 offset;
	int i;

	for (i = 0; i < ARRAY_SIZE(bars->bar); i++) {
		struct nvdebug_bar *bar = &bars->bar[i];

		if (!bar_look_up(bars, i, addr, how & FIND_OF_SESSION, &offset))
			continue;
		phys = bar->start + round_down(offset, SZ_4K);
		page = how & FIND_MAPPED ? bar_mapped_page(bars, phys) :
					   bar_map_page(bars, phys);
		if (!page) {
			if (!(how & FIND_MAPPED))
				nvdebug_bar_forget(bars, bar, addr, offset);
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

bool nvdebug_bar_read_words(struct nvdebug_bars *bars, u64 addr, u32 *buf,
			    size_t words, bool mapped)
{
	struct nvdebug_bar_place place;
	size_t i;

	if (!bars_find_known(bars, addr, &place, FIND_OF_SESSION |
			     (mapped ? FIND_MAPPED : 0)) ||
	    place.words < words)
		return false;
	for (i = 0; i < words; i++)
		buf[i] = readl(place.at + i * sizeof(u32));
	return true;
}

bool nvdebug_bar_is_answer(const u32 *buf, size_t words)
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
		return !nvdebug_sysmem_read(bars->mem, addr, buf, words);
	return (nvdebug_bar_read_words(bars, addr, buf, words, false) ||
		read_standing_window(bars, addr, buf, words)) &&
	       nvdebug_bar_is_answer(buf, words);
}

/*
 * Get @words of a table, reading ahead up to @run words. Adds the number of
 * words that were not cached to *@reads.
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

	/* Stay within a chunk, and stop at the first cached word. */
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

/* Return the slot of word @number in @word, as ordered by @ranges. */
static u32 *ranges_word_slot(const struct nvdebug_word_ranges *ranges,
			     u32 *word, u32 number)
{
	const struct nvdebug_word_range *range = ranges->range;

	while (number < range->first || number - range->first >= range->count)
		word += range++->count;
	return word + (number - range->first);
}

u64 nvdebug_bar_root_addr(const struct nvdebug_bar *bar)
{
	return bar->block.inst + NV_RAMIN_PAGE_DIR_BASE * sizeof(u32);
}

bool nvdebug_bar_decode_root(struct nvdebug_bars *bars, const u32 *root,
			     struct nvdebug_instance *inst,
			     const struct nvdebug_mmu_format **format)
{
	const struct nvdebug_gpu *gpu = bars->mem->gpu;
	const struct nvdebug_instance_layout *layout = gpu->chip->instance;
	u32 words[NVDEBUG_INSTANCE_WORDS] = { };

	memcpy(ranges_word_slot(&layout->ranges, words, NV_RAMIN_PAGE_DIR_BASE),
	       root, NVDEBUG_BAR_ROOT_WORDS * sizeof(u32));
	return !nvdebug_instance_decode(layout, words,
					nvdebug_ranges_words(&layout->ranges),
					inst) &&
	       !nvdebug_mmu_format(bars->mem, inst->version, inst->big_page_kib,
				   format);
}

static bool bar_start_pass(struct nvdebug_bars *bars, struct nvdebug_bar *bar)
{
	const struct nvdebug_mmu_format *format;
	u32 root[NVDEBUG_BAR_ROOT_WORDS];
	struct nvdebug_instance inst;
	size_t reads;

	bar->passes++;
	bar->skipped = false;
	bar->found_new = false;
	if (!table_get_words(bars, bar->block.aperture,
			     nvdebug_bar_root_addr(bar), root, ARRAY_SIZE(root),
			     ARRAY_SIZE(root), &reads) ||
	    !nvdebug_bar_decode_root(bars, root, &inst, &format))
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
		    nvdebug_bar_finds_add(bars->finds, bar - bars->bar, &leaf)) {
			bar->found_new = true;
			if (addr >= leaf.addr && addr - leaf.addr < leaf.size)
				return true;
		}
		cond_resched();
	}
	return false;
}

/* Scan again as long as new extents may have made more tables readable. */
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

	return bar_look_up(bars, 0, addr, false, &offset) ||
	       bar_look_up(bars, 1, addr, false, &offset);
}
