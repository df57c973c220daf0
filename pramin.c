// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/io.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/sched/signal.h>
#include <linux/security.h>
#include <linux/sizes.h>

#include "gpu.h"
#include "hw/pbus.h"
#include "hw/ram.h"
#include "params.h"
#include "pramin.h"

/* Words to read in one go with interrupts off: some 256 us. */
#define BURST_WORDS	256
/*
 * How often to look whether the window is still ours: eight times if there
 * is not little to read, and at least every 64 KiB. The more often, the less
 * likely that it was moved and put back in between.
 */
#define CHECKS		8
#define CHECK_WORDS_MAX	(SZ_64K / sizeof(u32))

const struct nvdebug_window nvdebug_window_nv50 = {
	.reg = NV_PBUS_BAR0_WINDOW,
	.base = NV_PBUS_BAR0_WINDOW_BASE,
	.target = NV_PBUS_BAR0_WINDOW_TARGET,
};

const struct nvdebug_window nvdebug_window_gh100 = {
	.reg = NV_XAL_EP_BAR0_WINDOW,
	.base = NV_XAL_EP_BAR0_WINDOW_BASE_GH100,
};

const struct nvdebug_window nvdebug_window_gb100 = {
	.reg = NV_XAL_EP_BAR0_WINDOW,
	.base = NV_XAL_EP_BAR0_WINDOW_BASE_GB100,
};

const char *nvdebug_window_forbidden(void)
{
	if (!nvdebug_params.move_window)
		return "pram_window=never";
	if (security_locked_down(LOCKDOWN_PCI_ACCESS))
		return "kernel lockdown";
	return NULL;
}

bool nvdebug_pramin_may_move(const struct nvdebug_pramin *p)
{
	return p->insist ? nvdebug_params.move_window :
			   !nvdebug_window_forbidden();
}

static u64 offset_in_mib(u64 addr)
{
	return addr & (NV_PRAMIN_SIZE - 1);
}

static u64 window_start(const struct nvdebug_pramin *p, u32 position)
{
	return (u64)(position & p->window->base) << NV_BAR0_WINDOW_BASE_SHIFT;
}

u64 nvdebug_pramin_shows(const struct nvdebug_pramin *p, u32 position, u64 addr)
{
	u64 start = window_start(p, position);

	if ((position & p->window->target) != NV_APERTURE_VID ||
	    addr < start || addr - start >= NV_PRAMIN_SIZE)
		return 0;
	return NV_PRAMIN_SIZE - (addr - start);
}

bool nvdebug_pramin_reaches(const struct nvdebug_pramin *p, u64 addr)
{
	return addr - min(addr, window_start(p, ~0u)) < NV_PRAMIN_SIZE;
}

u32 nvdebug_pramin_position(const struct nvdebug_pramin *p, u64 addr, u64 bytes)
{
	/* bits that the manuals do not describe stay as they are */
	u32 rest = p->saved & ~(p->window->base | p->window->target);

	if (offset_in_mib(addr) + bytes <= NV_PRAMIN_SIZE)
		addr -= offset_in_mib(addr);
	return rest | ((addr >> NV_BAR0_WINDOW_BASE_SHIFT) & p->window->base);
}

static void window_move(struct nvdebug_pramin *p, u32 position)
{
	if (position == p->value)
		return;
	writel(position, p->gpu->bar0 + p->window->reg);
	p->value = position;
	p->moved = true;
}

static bool window_is_ours(const struct nvdebug_pramin *p)
{
	return readl(p->gpu->bar0 + p->window->reg) == p->value;
}

/* Only while it is ours: nobody else's setting may be overwritten. */
static void window_put_back(struct nvdebug_pramin *p)
{
	if (p->moved)
		writel(p->saved, p->gpu->bar0 + p->window->reg);
	p->value = p->saved;
	p->moved = false;
}

void nvdebug_pramin_open(struct nvdebug_pramin *p)
{
	lockdep_assert_held(&p->gpu->lock);
	p->error = nvdebug_reg_read(p->gpu, p->window->reg, &p->saved);
	p->value = p->saved;
	p->moved = false;
}

void nvdebug_pramin_close(struct nvdebug_pramin *p)
{
	unsigned long flags;

	lockdep_assert_held(&p->gpu->lock);
	local_irq_save(flags);
	if (p->moved && !window_is_ours(p))
		p->moved = false;
	window_put_back(p);
	local_irq_restore(flags);
}

/* Where in the fetches' pieces the reading is. */
struct cursor {
	struct nvdebug_fetch *fetch;
	size_t at;	/* word of its piece */
};

static bool at_end(const struct cursor *c, struct list_head *fetches)
{
	return list_entry_is_head(c->fetch, fetches, progress.queue);
}

static void copy_words(const struct nvdebug_pramin *p,
		       struct nvdebug_mem_request *req, size_t first,
		       size_t words)
{
	void __iomem *window = p->gpu->bar0 + NV_PRAMIN;
	u64 start = window_start(p, p->value);
	size_t step = req->even_only ? 2 : 1;
	size_t i;

	for (i = round_up(first, step); i < first + words; i += step)
		req->buf[i] = readl(window + (req->addr + i * sizeof(u32) -
					      start));
}

/* Read at most @words, whichever fetches' they are; returns how many. */
static size_t copy_burst(const struct nvdebug_pramin *p, struct cursor *c,
			 struct list_head *fetches, size_t words)
{
	size_t done = 0, n;

	while (done < words && !at_end(c, fetches)) {
		const struct nvdebug_mem_progress *progress =
			&c->fetch->progress;

		n = min(words - done, progress->piece - c->at);
		copy_words(p, &c->fetch->want, progress->done + c->at, n);
		done += n;
		c->at += n;
		if (c->at == progress->piece) {
			c->fetch = list_next_entry(c->fetch, progress.queue);
			c->at = 0;
		}
	}
	return done;
}

/* What was read from @from to @to is what it should be, or is not. */
static void settle(const struct cursor *from, const struct cursor *to,
		   bool good)
{
	struct nvdebug_fetch *fetch = from->fetch;

	for (;; fetch = list_next_entry(fetch, progress.queue)) {
		struct nvdebug_mem_progress *progress = &fetch->progress;
		bool last = fetch == to->fetch;

		if (last && !to->at)
			return;
		if (good)
			progress->got = last ? to->at : progress->piece;
		else
			progress->tries++;
		if (last)
			return;
	}
}

/*
 * The last burst before a look also looks, and if nothing is left to read puts
 * the window back, all in one go: most lists fit into one burst, and then the
 * window is away for just that long, with interrupts off.
 */
int nvdebug_pramin_read(struct nvdebug_pramin *p, u32 position,
			struct list_head *fetches, bool last)
{
	struct cursor c = {
		.fetch = list_first_entry(fetches, struct nvdebug_fetch,
					  progress.queue),
	};
	struct cursor checked = c;
	struct nvdebug_fetch *fetch;
	size_t words = 0, since = 0, interval;

	lockdep_assert_held(&p->gpu->lock);
	list_for_each_entry(fetch, fetches, progress.queue) {
		fetch->progress.got = 0;
		fetch->progress.over_bus = true;
		words += fetch->progress.piece;
	}
	interval = clamp(words / CHECKS, (size_t)BURST_WORDS, CHECK_WORDS_MAX);

	while (!at_end(&c, fetches)) {
		unsigned long flags;
		bool look, ours = true;

		if (!p->insist && fatal_signal_pending(current))
			return -EINTR;
		if (!p->insist && READ_ONCE(p->gpu->gone))
			return -ENODEV;

		local_irq_save(flags);
		/* a while may have passed since the last look */
		if (position != p->value && !window_is_ours(p)) {
			local_irq_restore(flags);
			p->moved = false;
			list_for_each_entry(fetch, fetches, progress.queue)
				fetch->progress.tries++;
			return -EAGAIN;
		}
		window_move(p, position);
		since += copy_burst(p, &c, fetches, BURST_WORDS);
		look = since >= interval || at_end(&c, fetches);
		if (look)
			ours = window_is_ours(p);
		if (ours && last && at_end(&c, fetches))
			window_put_back(p);
		local_irq_restore(flags);

		if (look) {
			settle(&checked, &c, ours);
			checked = c;
			since = 0;
		}
		if (!ours) {
			/* where it is now is what its mover wants to find */
			p->moved = false;
			return -EAGAIN;
		}
		cond_resched();
	}
	return 0;
}

int nvdebug_pramin_write(struct nvdebug_pramin *p, u32 position, u64 addr,
			 u32 expected, u32 value)
{
	void __iomem *at = p->gpu->bar0 + NV_PRAMIN +
			   (addr - window_start(p, position));
	unsigned long flags;
	int ret = -EAGAIN;
	bool ours;
	u32 word;

	lockdep_assert_held(&p->gpu->lock);
	local_irq_save(flags);
	if (!window_is_ours(p)) {
		local_irq_restore(flags);
		p->moved = false;
		return -EAGAIN;
	}
	window_move(p, position);
	word = readl(at);
	ours = window_is_ours(p);
	if (ours) {
		ret = nvdebug_word_check(word, expected);
		if (!ret) {
			writel(value, at);
			word = readl(at);
			ours = window_is_ours(p);
			ret = !ours ? -EBUSY : word == value ? 0 : -EIO;
		}
	}
	if (!ours)
		p->moved = false;
	window_put_back(p);
	local_irq_restore(flags);
	return ret;
}
