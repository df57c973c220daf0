// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/io.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/time64.h>

#include "access/change.h"
#include "access/device.h"
#include "access/lockdown.h"
#include "access/params.h"
#include "access/pramin.h"
#include "chips/chips.h"
#include "core/machine.h"
#include "decode/register.h"
#include "hw/pbus.h"
#include "hw/ram.h"

/* Words to read in one burst: about 256 us. */
#define BURST_WORDS	256

/*
 * Return why the window is never moved, or NULL. Does not access the GPU.
 * hw_access keeps the driver stable.
 */
static const char *window_never_moves(const struct nvdebug_gpu *gpu)
{
	if (nvdebug_params.pram_window == NVDEBUG_WINDOW_NEVER)
		return "pram_window=never";
	return READ_ONCE(nvdebug_device(gpu)->driver) ? "a driver is bound" : NULL;
}

const char *nvdebug_window_forbidden(const struct nvdebug_gpu *gpu, bool ask)
{
	const char *why = window_never_moves(gpu);

	if (!why && (ask ? nvdebug_locked_down(LOCKDOWN_PCI_ACCESS) :
			   nvdebug_known_locked_down(LOCKDOWN_PCI_ACCESS)))
		why = "kernel lockdown";
	return why;
}

bool nvdebug_pramin_may_move(const struct nvdebug_pramin *p)
{
	return p->restoring ? !window_never_moves(p->gpu) :
			      !nvdebug_window_forbidden(p->gpu, true);
}

bool nvdebug_pramin_is_shared(const struct nvdebug_pramin *p)
{
	return READ_ONCE(nvdebug_device(p->gpu)->driver);
}

static u64 offset_in_mib(u64 addr)
{
	return addr & (NV_PRAMIN_SIZE - 1);
}

static u64 window_start(const struct nvdebug_pramin *p, u32 position)
{
	return (u64)(position & p->window->base) << NV_BAR0_WINDOW_BASE_SHIFT;
}

u64 nvdebug_pramin_covers(const struct nvdebug_pramin *p, u32 position,
			  u64 addr)
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
	/* Undocumented bits keep their values. */
	u32 rest = p->standing & ~(p->window->base | p->window->target);

	if (offset_in_mib(addr) + bytes <= NV_PRAMIN_SIZE)
		addr -= offset_in_mib(addr);
	return rest | ((addr >> NV_BAR0_WINDOW_BASE_SHIFT) & p->window->base);
}

int nvdebug_pramin_lock(const struct nvdebug_pramin *p)
{
	int ret;

	if (p->restoring) {
		mutex_lock(&p->gpu->lock);
		return 0;
	}
	ret = nvdebug_gpu_check_stop(p->gpu);
	if (ret)
		return ret;
	return mutex_lock_killable(&p->gpu->lock) ? -EINTR : 0;
}

bool nvdebug_pramin_is_unmoved(const struct nvdebug_pramin *p)
{
	lockdep_assert_held(&p->gpu->lock);
	return !p->error && readl(nvdebug_device(p->gpu)->bar0 +
				  p->window->reg) == p->standing;
}

u32 nvdebug_pramin_word(const struct nvdebug_pramin *p, u64 addr)
{
	lockdep_assert_held(&p->gpu->lock);
	return readl(nvdebug_device(p->gpu)->bar0 + NV_PRAMIN +
		     (addr - window_start(p, p->standing)));
}

void nvdebug_pramin_read_register(struct nvdebug_pramin *p)
{
	/* The lock keeps bursts of other sessions away. */
	p->error = nvdebug_pramin_lock(p);
	if (p->error)
		return;
	p->error = nvdebug_reg_read(p->gpu, p->window->reg, &p->standing);
	mutex_unlock(&p->gpu->lock);
}

/* The window register during a burst. */
struct window_move_state {
	u32 saved;	/* to be restored after the burst */
	u32 value;	/* written for the burst */
};

static bool window_is_unchanged(const struct nvdebug_pramin *p,
				const struct window_move_state *stay)
{
	void __iomem *reg = nvdebug_device(p->gpu)->bar0 + p->window->reg;
	u32 now = readl(reg);

	/*
	 * A read that failed on the bus returns an error code (0xbad…) and not
	 * the position of the window. Such failures may pass, so try again once.
	 */
	if (nvdebug_reg_value_check(now))
		now = readl(reg);
	return now == stay->value;
}

/*
 * Move the window for a burst. -EAGAIN: others moved it after
 * nvdebug_pramin_read_register().
 */
static int window_move(const struct nvdebug_pramin *p, u32 position,
		       struct window_move_state *stay)
{
	int ret = nvdebug_reg_read(p->gpu, p->window->reg, &stay->saved);

	if (ret == -ENODEV)
		return ret;
	if (ret || stay->saved != p->standing)
		return -EAGAIN;
	stay->value = position;
	if (stay->value != stay->saved)
		writel(stay->value, nvdebug_device(p->gpu)->bar0 + p->window->reg);
	return 0;
}

/*
 * Restore the window. Called only if the register is unchanged, because a
 * position that others have set must stay.
 */
static void window_restore(const struct nvdebug_pramin *p,
			   const struct window_move_state *stay)
{
	if (stay->value != stay->saved)
		writel(stay->saved, nvdebug_device(p->gpu)->bar0 + p->window->reg);
}

/* The position of a burst within the pieces of all requests. */
struct burst_cursor {
	struct nvdebug_mem_request *req;
	size_t at;	/* word within the request's piece */
};

static bool cursor_at_end(const struct burst_cursor *c,
			  struct list_head *requests)
{
	return list_entry_is_head(c->req, requests, node);
}

/* Return the number of the word in the request's buffer. */
static size_t cursor_word(const struct burst_cursor *c)
{
	return c->req->progress.done + c->at;
}

static bool cursor_is_wanted(const struct burst_cursor *c)
{
	return !nvdebug_mem_skips(c->req, cursor_word(c));
}

static void cursor_next(struct burst_cursor *c)
{
	if (++c->at < c->req->progress.piece)
		return;
	c->req = list_next_entry(c->req, node);
	c->at = 0;
}

static u32 cursor_read(const struct nvdebug_pramin *p, u32 position,
		       const struct burst_cursor *c)
{
	u64 addr = c->req->addr + cursor_word(c) * sizeof(u32);

	return readl(nvdebug_device(p->gpu)->bar0 + NV_PRAMIN +
		     (addr - window_start(p, position)));
}

/*
 * Return whether the burst ends after @word. All ones may come from a GPU that
 * is gone, where each read may take long.
 */
static bool burst_is_last(u32 word, u64 deadline)
{
	return word == ~0u || local_clock() >= deadline;
}

/*
 * Read as many words as one burst may have, or half of them where they are read
 * twice.
 */
static void burst_copy_words(const struct nvdebug_pramin *p, u32 position,
			     struct burst_cursor *c, struct list_head *requests)
{
	u32 times = nvdebug_pramin_is_shared(p) ? 2 : 1;
	u64 deadline = local_clock() + (u64)nvdebug_params.burst_us *
				       NSEC_PER_USEC / times;
	u32 left = BURST_WORDS / times;
	bool last = false;

	for (; !cursor_at_end(c, requests); cursor_next(c)) {
		u32 *word = &c->req->buf[cursor_word(c)];

		if (!cursor_is_wanted(c)) {
			*word = 0;
			continue;
		}
		if (!left || last)
			break;
		*word = cursor_read(p, position, c);
		last = burst_is_last(*word, deadline);
		left--;
	}
}

/* Return whether the words from @from to @to read the same again. */
static bool burst_reads_same(const struct nvdebug_pramin *p, u32 position,
			     const struct burst_cursor *from,
			     const struct burst_cursor *to)
{
	struct burst_cursor c = *from;

	for (; c.req != to->req || c.at != to->at; cursor_next(&c))
		if (cursor_is_wanted(&c) &&
		    cursor_read(p, position, &c) != c.req->buf[cursor_word(&c)])
			return false;
	return true;
}

/* Mark the words from @from to @to as valid. */
static void burst_accept(const struct burst_cursor *from,
			 const struct burst_cursor *to)
{
	struct nvdebug_mem_request *req = from->req;

	while (req != to->req) {
		req->progress.got = req->progress.piece;
		req = list_next_entry(req, node);
	}
	if (to->at)
		req->progress.got = to->at;
}

/* Count a try of each request: the words may come from another position. */
static void burst_reject(const struct burst_cursor *from,
			 const struct burst_cursor *to)
{
	struct nvdebug_mem_request *req = from->req;

	req->progress.tries++;
	while (req != to->req) {
		req = list_next_entry(req, node);
		if (req != to->req || to->at)
			req->progress.tries++;
	}
}

/*
 * Read one burst. -EAGAIN: the window was moved, so the words may come from
 * another position. A driver may have moved the window and put it back between
 * two reads of the register; only words that differ show that.
 */
static int burst_read(struct nvdebug_pramin *p, u32 position,
		      struct burst_cursor *c, struct list_head *requests)
{
	const struct burst_cursor from = *c;
	struct window_move_state stay;
	unsigned long flags;
	int ret;

	lockdep_assert_held(&p->gpu->lock);
	local_irq_save(flags);
	ret = window_move(p, position, &stay);
	if (ret)
		goto out;
	burst_copy_words(p, position, c, requests);
	if (nvdebug_pramin_is_shared(p) &&
	    !burst_reads_same(p, position, &from, c))
		ret = -EAGAIN;
	/* window_is_unchanged() also fails if the GPU is gone. */
	if (window_is_unchanged(p, &stay))
		window_restore(p, &stay);
	else
		ret = -EAGAIN;
out:
	local_irq_restore(flags);
	return ret;
}

int nvdebug_pramin_read(struct nvdebug_pramin *p, u32 position,
			struct list_head *requests)
{
	struct burst_cursor c = {
		.req = list_first_entry(requests, struct nvdebug_mem_request,
					node),
	};
	struct nvdebug_mem_request *req;

	list_for_each_entry(req, requests, node) {
		req->progress.got = 0;
		req->progress.over_bus = true;
	}
	while (!cursor_at_end(&c, requests)) {
		struct burst_cursor from = c;
		int ret;

		ret = nvdebug_pramin_lock(p);
		if (ret)
			return ret;
		ret = burst_read(p, position, &c, requests);
		mutex_unlock(&p->gpu->lock);
		if (ret) {
			burst_reject(&from, &c);
			return ret;
		}
		burst_accept(&from, &c);
		cond_resched();
	}
	return 0;
}

static int pramin_write_locked(struct nvdebug_pramin *p, u32 position,
			       const struct nvdebug_mem_change *change)
{
	void __iomem *at = nvdebug_device(p->gpu)->bar0 + NV_PRAMIN +
			   (change->addr - window_start(p, position));
	struct window_move_state stay;
	unsigned long flags;
	int ret, differs;

	lockdep_assert_held(&p->gpu->lock);
	local_irq_save(flags);
	ret = window_move(p, position, &stay);
	if (ret)
		goto out;
	differs = nvdebug_change_check(at, change);
	ret = -EAGAIN;
	if (!window_is_unchanged(p, &stay))
		goto out;
	ret = differs;
	if (!ret) {
		writel(change->value, at);
		ret = readl(at) == change->value ? 0 : -EIO;
		if (!window_is_unchanged(p, &stay)) {
			ret = -EBUSY;
			goto out;
		}
	}
	window_restore(p, &stay);
out:
	local_irq_restore(flags);
	return ret;
}

int nvdebug_pramin_write(struct nvdebug_pramin *p, u32 position,
			 const struct nvdebug_mem_change *change)
{
	int ret = nvdebug_pramin_lock(p);

	if (ret)
		return ret;
	ret = pramin_write_locked(p, position, change);
	mutex_unlock(&p->gpu->lock);
	return ret;
}
