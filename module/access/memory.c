// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Sessions of memory accesses, see docs/memory.md. There are four ways to read
 * video memory, tried in this order: the PRAMIN window at its current position
 * (after the BARs if a driver is bound, which may move the window); BAR2 or
 * BAR1, if they map the page; the PRAMIN window, moved, if moving it is
 * allowed. System memory is read through the kernel's mapping. A request is
 * read in pieces, because some of these ways show only a part of it.
 */
#include <linux/bits.h>
#include <linux/err.h>
#include <linux/io.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "access/bar.h"
#include "access/bar_confirm.h"
#include "access/change.h"
#include "access/pramin.h"
#include "access/sysmem.h"
#include "access/table_cache.h"
#include "chips/chips.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "decode/register.h"
#include "hw/ram.h"

struct nvdebug_session {
	struct nvdebug_mem base;
	struct nvdebug_table_cache tables;
	struct nvdebug_pramin pramin;
	struct nvdebug_bars bars;
	bool alive;	/* the GPU answered since the last read of video memory */
};

static struct nvdebug_session *nvdebug_session(struct nvdebug_mem *mem)
{
	return container_of(mem, struct nvdebug_session, base);
}

static struct nvdebug_session *session_alloc(struct nvdebug_gpu *gpu,
					     gfp_t flags, bool restoring)
{
	struct nvdebug_session *s = kzalloc(sizeof(*s), flags);

	if (!s)
		return NULL;
	s->base.gpu = gpu;
	s->pramin.gpu = gpu;
	s->pramin.window = gpu->chip->window;
	s->base.restoring = restoring;
	s->pramin.restoring = restoring;
	s->pramin.error = -EAGAIN;
	nvdebug_table_cache_init(&s->tables);
	nvdebug_bars_init(&s->bars, &s->base, &s->tables, &s->pramin);
	return s;
}

struct nvdebug_mem *nvdebug_mem_begin(struct nvdebug_gpu *gpu)
{
	struct nvdebug_session *s =
		session_alloc(gpu, GFP_KERNEL_ACCOUNT, false);

	return s ? &s->base : ERR_PTR(-ENOMEM);
}

/* The allocation must not fail: the task may be an OOM victim. */
struct nvdebug_mem *nvdebug_mem_begin_undo(struct nvdebug_gpu *gpu)
{
	return &session_alloc(gpu, GFP_KERNEL | __GFP_NOFAIL, true)->base;
}

void nvdebug_mem_end(struct nvdebug_mem *mem)
{
	struct nvdebug_session *s = nvdebug_session(mem);

	nvdebug_bars_free(&s->bars);
	nvdebug_table_cache_free(&s->tables);
	kfree(s);
}

static int session_check_stop(const struct nvdebug_session *s)
{
	return s->pramin.restoring ? 0 : nvdebug_gpu_check_stop(s->base.gpu);
}

/* Address and size of the part of a request that still has to be read. */
static u64 wanted_addr(const struct nvdebug_mem_request *req)
{
	return req->addr + req->progress.done * sizeof(u32);
}

static u64 wanted_bytes(const struct nvdebug_mem_request *req)
{
	return (req->words - req->progress.done) * sizeof(u32);
}

/* Return -EFAULT if the GPU cannot have memory at the address. */
static int mem_check_request(const struct nvdebug_gpu *gpu,
			     const struct nvdebug_mem_request *req)
{
	u64 bytes = req->words * sizeof(u32);

	if (req->addr & (sizeof(u32) - 1) || req->addr + bytes < req->addr)
		return -EFAULT;
	switch (nvdebug_mem_place(gpu, req->aperture)) {
	case NVDEBUG_PLACE_VIDEO:
		return gpu->video_memory &&
		       req->addr + bytes > gpu->video_memory ? -EFAULT : 0;
	case NVDEBUG_PLACE_SYSTEM:
		return 0;
	default:
		return -EFAULT;
	}
}

/*
 * Check words that were read through a BAR for error codes of the register bus.
 * -EIO if all of them are codes, -ENODEV if the GPU has gone.
 */
static int mem_check_answer(struct nvdebug_session *s,
			    struct nvdebug_mem_request *req)
{
	size_t i, errors = 0, wanted = 0;
	int ret = 0;

	for (i = 0; i < req->words; i++) {
		if (nvdebug_mem_skips(req, i))
			continue;
		wanted++;
		errors += nvdebug_reg_value_check(req->buf[i]) != 0;
	}
	if (!errors)
		return 0;

	req->maybe_pri_error = true;
	if (!s->alive)
		ret = nvdebug_gpu_check_alive(s->base.gpu);
	if (ret)
		return ret;
	s->alive = true;
	return errors == wanted ? -EIO : 0;
}

/*
 * Take the request off its list: it was read, or failed with @error. Returns
 * only fatal errors.
 */
static int request_end(struct nvdebug_session *s,
		       struct nvdebug_mem_request *req, int error)
{
	if (!error && req->progress.over_bus)
		error = mem_check_answer(s, req);
	if (!error && req->table)
		nvdebug_table_cache_put(&s->tables, req->aperture, req->addr,
					req->buf, req->words);
	list_del(&req->node);
	req->error = error;
	return nvdebug_mem_error_is_fatal(error) ? error : 0;
}

/* Serve the request, unless it needs video memory. Returns as request_end(). */
static int request_start(struct nvdebug_session *s,
			 struct nvdebug_mem_request *req)
{
	int ret = session_check_stop(s);
	size_t done = 0;

	if (!ret)
		ret = mem_check_request(s->base.gpu, req);
	req->maybe_pri_error = false;
	if (!ret && req->table)
		done = nvdebug_table_cache_get(&s->tables, req->aperture,
					       req->addr, req->buf, req->words);
	req->progress = (struct nvdebug_mem_progress) { .done = done };
	if (!ret && done < req->words) {
		if (nvdebug_mem_place(s->base.gpu, req->aperture) ==
		    NVDEBUG_PLACE_VIDEO)
			return 0;
		ret = nvdebug_sysmem_read(&s->base, wanted_addr(req),
					  req->buf + done, req->words - done);
	}
	return request_end(s, req, ret);
}

/* Move requests that a window at @position covers from @queue to @picked. */
static void queue_pick(struct nvdebug_session *s, struct list_head *queue,
		       u32 position, struct list_head *picked)
{
	struct nvdebug_mem_request *req, *next;

	list_for_each_entry_safe(req, next, queue, node) {
		u64 shown = nvdebug_pramin_covers(&s->pramin, position,
						  wanted_addr(req));

		if (!shown)
			continue;
		shown = min(wanted_bytes(req), shown);
		req->progress.piece = shown / sizeof(u32);
		list_move_tail(&req->node, picked);
	}
}

/*
 * Return requests to @queue, unless they are done or have failed too often
 * (nvdebug_pramin_read() counts). Returns as request_end().
 */
static int queue_put_back(struct nvdebug_session *s, struct list_head *queue,
			  struct list_head *picked)
{
	struct nvdebug_mem_request *req, *next;
	int ret = 0;

	list_for_each_entry_safe(req, next, picked, node) {
		struct nvdebug_mem_progress *progress = &req->progress;

		progress->done += progress->got;
		if (progress->done == req->words)
			ret = request_end(s, req, 0);
		else if (!progress->got &&
			 progress->tries >= NVDEBUG_PRAMIN_TRIES)
			ret = request_end(s, req, -EBUSY);
		if (ret)
			return ret;
	}
	list_splice_tail(picked, queue);
	return 0;
}

/*
 * Read everything that a window at @position covers. -EAGAIN: others moved the
 * window, and its present position was read; unread requests are in @queue.
 */
static int queue_read_position(struct nvdebug_session *s,
			       struct list_head *queue, u32 position)
{
	LIST_HEAD(picked);
	int ret, error;

	queue_pick(s, queue, position, &picked);
	if (list_empty(&picked))
		return 0;
	s->alive = false;
	ret = nvdebug_pramin_read(&s->pramin, position, &picked);
	if (ret == -EAGAIN)
		nvdebug_pramin_read_register(&s->pramin);
	error = queue_put_back(s, queue, &picked);
	return error ? error : ret;
}

/*
 * Read word @i of the request at @at. The next word is read with it if both are
 * in one 64-bit word: a BAR of memory is prefetchable and may be read by any
 * size. Returns the number of words.
 */
static size_t bar_read(struct nvdebug_mem_request *req, const void __iomem *at,
		       size_t i, size_t end)
{
	u64 both;

	if (nvdebug_mem_skips(req, i)) {
		req->buf[i] = 0;
		return 1;
	}
	if (!IS_ALIGNED((unsigned long)at, sizeof(both)) || i + 1 == end) {
		req->buf[i] = readl(at);
		return 1;
	}
	both = readq(at);
	req->buf[i] = lower_32_bits(both);
	req->buf[i + 1] = upper_32_bits(both);
	/* An error code may stand in one half only, so both are read again. */
	if (nvdebug_reg_value_check(req->buf[i]) ||
	    nvdebug_reg_value_check(req->buf[i + 1])) {
		req->buf[i] = readl(at);
		req->buf[i + 1] = readl(at + sizeof(u32));
	}
	return 2;
}

static bool has_all_ones(const u32 *word, size_t words)
{
	return word[0] == ~0u || word[words - 1] == ~0u;
}

/* Read as much of the request as was confirmed to be in a BAR. */
static int request_read_bar(struct nvdebug_session *s,
			    struct nvdebug_mem_request *req)
{
	size_t *done = &req->progress.done;
	struct nvdebug_bar_place place;
	size_t end, first = *done, i, words;
	bool checked = false;
	int stop, ret;

	/* A page that is no longer at its old place may be elsewhere. */
	do {
		ret = nvdebug_bar_find(&s->bars, wanted_addr(req), &place);
		if (ret)
			break;
		end = min(req->words, first + min_t(size_t, place.words,
						    NVDEBUG_BAR_WORDS));
		ret = nvdebug_bar_confirm(&s->bars, &place, end - first);
	} while (ret == -ENOENT);
	/* A search that had to stop also ends with -ENOENT. */
	stop = session_check_stop(s);
	if (stop || ret)
		return stop ? stop : ret;
	s->alive = false;
	for (i = first; i < end; i += words) {
		words = bar_read(req, place.at + (i - first) * sizeof(u32), i,
				 end);
		if (checked || !has_all_ones(req->buf + i, words))
			continue;
		/* Each read that times out may take long: check only once. */
		checked = true;
		ret = nvdebug_gpu_check_alive(s->base.gpu);
		if (ret)
			return ret;
	}
	*done = end;
	req->progress.over_bus = true;
	cond_resched();
	return 0;
}

/*
 * Read the parts of requests that the BARs map. Returns 1 if anything was read,
 * since the window may show the rest of a request that begins in a BAR, else 0.
 * -EAGAIN: others moved the window, and its present position was read.
 */
static int queue_read_bars(struct nvdebug_session *s, struct list_head *queue)
{
	struct nvdebug_mem_request *req, *next;
	int ret, any = 0;

	list_for_each_entry_safe(req, next, queue, node) {
		do {
			ret = request_read_bar(s, req);
			any |= !ret;
		} while (!ret && req->progress.done < req->words);
		if (ret == -EAGAIN &&
		    ++req->progress.tries >= NVDEBUG_PRAMIN_TRIES)
			ret = request_end(s, req, -EBUSY);
		else if (ret != -EAGAIN && ret != -ENOENT)
			ret = request_end(s, req, ret);
		if (ret && ret != -ENOENT)
			return ret;
	}
	return any;
}

/* Fail all requests with @error. */
static int queue_fail(struct nvdebug_session *s, struct list_head *queue,
		      int error)
{
	struct nvdebug_mem_request *req, *next;
	int ret = 0;

	list_for_each_entry_safe(req, next, queue, node)
		if (!ret)
			ret = request_end(s, req, error);
	return ret;
}

/*
 * Return whether the request may be readable without moving the window. That is
 * open as long as the BARs were not searched to the end.
 */
static bool request_is_in_reach(struct nvdebug_session *s,
				const struct nvdebug_mem_request *req)
{
	u64 addr = wanted_addr(req);

	return nvdebug_pramin_covers(&s->pramin, s->pramin.standing, addr) ||
	       !s->bars.settled || nvdebug_bar_is_known(&s->bars, addr);
}

static struct nvdebug_mem_request *
queue_next_out_of_reach(struct nvdebug_session *s, struct list_head *queue)
{
	struct nvdebug_mem_request *req;

	list_for_each_entry(req, queue, node)
		if (!request_is_in_reach(s, req))
			return req;
	return NULL;
}

/* Read the rest by moving the window. */
static int queue_read_moved(struct nvdebug_session *s, struct list_head *queue)
{
	struct nvdebug_pramin *p = &s->pramin;
	struct nvdebug_mem_request *req;
	int ret = 0;

	if (p->error)
		return queue_fail(s, queue, p->error);
	if (!nvdebug_pramin_may_move(p))
		return queue_fail(s, queue, -EOPNOTSUPP);

	while (!ret && (req = queue_next_out_of_reach(s, queue))) {
		u64 addr = wanted_addr(req);
		u64 bytes = wanted_bytes(req);

		if (nvdebug_pramin_reaches(p, addr + bytes - 1))
			ret = queue_read_position(s, queue,
						  nvdebug_pramin_position(p, addr,
									  bytes));
		else
			ret = request_end(s, req, -EFAULT);
	}
	return ret;
}

/* Read words that the window covers at its current position. */
static int queue_read_window(struct nvdebug_session *s, struct list_head *queue)
{
	if (s->pramin.error)
		return 0;
	return queue_read_position(s, queue, s->pramin.standing);
}

/*
 * Read all that is possible without moving the window. Window and BARs take
 * turns, since one of them may go on where the other ends in the middle of a
 * request. The BARs come first where a driver may move the window.
 */
static int queue_read_standing(struct nvdebug_session *s,
			       struct list_head *queue)
{
	int ret = 0;

	if (nvdebug_pramin_is_shared(&s->pramin))
		ret = queue_read_bars(s, queue);
	if (ret < 0)
		return ret;
	do {
		ret = queue_read_window(s, queue);
		if (!ret)
			ret = queue_read_bars(s, queue);
	} while (ret > 0);
	return ret;
}

static int queue_read_video(struct nvdebug_session *s, struct list_head *queue)
{
	struct nvdebug_pramin *p = &s->pramin;
	int ret;

	if (p->error)
		nvdebug_pramin_read_register(p);
	/* -EAGAIN repeats the loop; the requests' tries bound how often. */
	while (!list_empty(queue)) {
		if (nvdebug_mem_error_is_fatal(p->error))
			return p->error;
		ret = queue_read_standing(s, queue);
		if (!ret && !list_empty(queue))
			ret = queue_read_moved(s, queue);
		if (ret && ret != -EAGAIN)
			return ret;
	}
	return 0;
}

void nvdebug_mem_set_restoring(struct nvdebug_mem *mem)
{
	mem->restoring = true;
	nvdebug_session(mem)->pramin.restoring = true;
}

int nvdebug_mem_read_all(struct nvdebug_mem *mem, struct list_head *requests)
{
	struct nvdebug_session *s = nvdebug_session(mem);
	struct nvdebug_mem_request *req, *next;
	int ret;

	list_for_each_entry_safe(req, next, requests, node) {
		ret = request_start(s, req);
		if (ret)
			return ret;
	}
	return list_empty(requests) ? 0 : queue_read_video(s, requests);
}

/*
 * Write in the same order of preference as reading, except that nothing is
 * written through a window that a driver may move. -EAGAIN: nothing was
 * written, because others moved the window or the page is no longer at the
 * place where it was found.
 */
static int write_video(struct nvdebug_session *s,
		       const struct nvdebug_mem_change *change)
{
	struct nvdebug_pramin *p = &s->pramin;
	u64 addr = change->addr;
	struct nvdebug_bar_place place;
	int ret;

	nvdebug_pramin_read_register(p);
	if (nvdebug_mem_error_is_fatal(p->error))
		return p->error;
	if (!p->error && !nvdebug_pramin_is_shared(p) &&
	    nvdebug_pramin_covers(p, p->standing, addr))
		return nvdebug_pramin_write(p, p->standing, change);
	ret = nvdebug_bar_find(&s->bars, addr, &place);
	if (!ret) {
		ret = nvdebug_bar_write(&s->bars, &place, change);
		return ret == -ENOENT ? -EAGAIN : ret;
	}
	if (ret != -ENOENT)
		return ret;
	if (p->error)
		return p->error;
	if (!nvdebug_pramin_reaches(p, addr))
		return -EFAULT;
	if (!nvdebug_pramin_may_move(p))
		return -EOPNOTSUPP;
	return nvdebug_pramin_write(p, nvdebug_pramin_position(p, addr,
							       sizeof(u32)),
				    change);
}

static int write_video_again(struct nvdebug_session *s,
			     const struct nvdebug_mem_change *change)
{
	int tries = 0;
	int ret, alive;

	do {
		ret = write_video(s, change);
	} while (ret == -EAGAIN && ++tries < NVDEBUG_PRAMIN_TRIES);
	if (ret != -EAGAIN && ret != -EBUSY && ret != -EIO)
		return ret;
	/* A GPU that is gone causes the same errors. */
	alive = nvdebug_gpu_check_alive(s->base.gpu);
	if (alive)
		return alive;
	return ret == -EAGAIN ? -EBUSY : ret;
}

/*
 * Return whether all words are in one page: a write maps only one page, and the
 * guards are read through it, too.
 */
static bool change_is_in_one_page(const struct nvdebug_mem_change *change)
{
	u32 i;

	for (i = 0; i < change->guards; i++)
		if (change->guard[i].addr & (sizeof(u32) - 1) ||
		    (change->guard[i].addr ^ change->addr) >= SZ_4K)
			return false;
	return true;
}

int nvdebug_mem_write(struct nvdebug_mem *mem,
		      const struct nvdebug_mem_change *change)
{
	struct nvdebug_session *s = nvdebug_session(mem);
	const struct nvdebug_mem_request req = {
		.addr = change->addr,
		.aperture = change->aperture,
		.words = 1,
	};
	int ret = mem_check_request(mem->gpu, &req);

	if (ret)
		return ret;
	if (WARN_ON_ONCE(!change_is_in_one_page(change)))
		return -EFAULT;
	if (nvdebug_mem_place(s->base.gpu, change->aperture) ==
	    NVDEBUG_PLACE_VIDEO)
		ret = write_video_again(s, change);
	else
		ret = nvdebug_sysmem_write(&s->base, change);
	if (!ret)
		nvdebug_table_cache_change(&s->tables, change->aperture,
					   change->addr, change->value);
	return ret;
}
