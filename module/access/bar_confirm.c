// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * A driver may have removed a page from a BAR since the page was found. So the
 * entries that lead to the page are read again before it is used.
 */
#include <linux/errno.h>
#include <linux/io.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "access/bar.h"
#include "access/bar_confirm.h"
#include "access/change.h"
#include "access/pramin.h"
#include "access/sysmem.h"
#include "chips/chips.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "decode/instance.h"
#include "decode/mmu.h"
#include "hw/ram.h"

/* Directories are not read again during this time. */
#define TRUST_MS	10

/* The state of reading the entries that lead to a page again. */
struct bar_check {
	struct nvdebug_bars *bars;
	/* Interrupts are off: nothing may sleep, and no entry is trusted. */
	bool irqs_off;
	bool used_window;
	/* The window was moved after its register was read. */
	bool moved;
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

/*
 * Find an entry that can be replaced: an entry of the last level, which is read
 * again in any case.
 */
static struct nvdebug_bar_entry *entry_find_spare(struct nvdebug_bars *bars)
{
	u32 i;

	for (i = 0; i < bars->entries; i++)
		if (!bars->entry[i].is_table &&
		    bars->entry[i].aperture == NV_APERTURE_VID)
			return &bars->entry[i];
	return NULL;
}

/*
 * Return the slot of the entry at @addr or, if it has none, another slot: an
 * unused or spare one, or the oldest.
 */
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

/* Read words of a table in video memory, through the window or a BAR. */
static bool check_read_video(struct bar_check *check, u64 addr, u32 *buf,
			     size_t words)
{
	struct nvdebug_bars *bars = check->bars;
	struct nvdebug_pramin *p = bars->pramin;
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
		/*
		 * A driver may have moved the window and put it back, as a
		 * burst does.
		 */
		for (i = 0; i < words && nvdebug_pramin_is_shared(p); i++)
			check->moved |= buf[i] !=
				nvdebug_pramin_word(p, addr + i * sizeof(u32));
		return !check->moved && nvdebug_bar_is_answer(buf, words);
	}
	/* Mapping a page may sleep: the check before this one has mapped it. */
	return nvdebug_bar_read_words(bars, addr, buf, words,
				      check->irqs_off) &&
	       nvdebug_bar_is_answer(buf, words);
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
		       nvdebug_sysmem_read(bars->mem, addr, buf, words))
		return NULL;
	e = entry_renew(bars, aperture, addr);
	memcpy(e->word, buf, words * sizeof(u32));
	return e;
}

/* Read the root of the BAR's page tables. */
static bool check_root(struct bar_check *check, const struct nvdebug_bar *bar,
		       struct nvdebug_instance *inst,
		       const struct nvdebug_mmu_format **format)
{
	struct nvdebug_bar_entry *e;

	e = check_read_entry(check, bar->block.aperture,
			     nvdebug_bar_root_addr(bar), NVDEBUG_BAR_ROOT_WORDS);
	if (!e)
		return false;
	e->is_table = true;
	return nvdebug_bar_decode_root(check->bars, e->word, inst, format);
}

/* Return whether the BAR's page tables still map @place. */
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

	if (!check_root(check, place->bar, &inst, &format))
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

/* Return whether the BAR's register has the same value as before. */
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

/* Start a new period in which entries need not be read again. */
static void bars_start_trust(struct nvdebug_bars *bars)
{
	int i;

	bars->entries = 0;
	for (i = 0; i < ARRAY_SIZE(bars->bar); i++)
		bars->bar[i].trusted = false;
	bars->trust_words = NVDEBUG_BAR_WORDS;
	bars->trust_until = ktime_add_ms(ktime_get(), TRUST_MS);
}

/*
 * Check that @place is still mapped. Returns 0, -ENOENT or -EAGAIN as
 * nvdebug_bar_confirm().
 */
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
		nvdebug_bar_forget(bars, place->bar, place->addr, place->offset);
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

	/*
	 * This check reads the entries in system memory and maps the tables,
	 * which the next check cannot do with interrupts off.
	 */
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
	/*
	 * The lock keeps the module's other writes away between compare and
	 * write.
	 */
	int ret = nvdebug_pramin_lock(bars->pramin);

	if (ret)
		return ret;
	ret = bar_write_locked(bars, place, change);
	mutex_unlock(&bars->mem->gpu->lock);
	if (ret == -ENOENT)
		nvdebug_bar_forget(bars, place->bar, place->addr, place->offset);
	return ret;
}
