// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Sessions. Video memory is read, in this order of preference,
 *   through the PRAMIN window at its current position,
 *   through BAR2 or BAR1 if they map the page,
 *   through the PRAMIN window, moved, if that is allowed;
 * system memory is read through the kernel's mapping.
 */
#include <linux/bits.h>
#include <linux/err.h>
#include <linux/io.h>
#include <linux/kernel.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "access/bar.h"
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
	bool alive;	/* checked since the last BAR read */
};

static struct nvdebug_session *nvdebug_session(struct nvdebug_mem *mem)
{
	return container_of(mem, struct nvdebug_session, base);
}

static struct nvdebug_session *session_alloc(struct nvdebug_gpu *gpu,
					     gfp_t flags, bool insist)
{
	struct nvdebug_session *s = kzalloc(sizeof(*s), flags);

	if (!s)
		return NULL;
	s->base.gpu = gpu;
	s->pramin.gpu = gpu;
	s->pramin.window = gpu->chip->window;
	s->pramin.insist = insist;
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

/* Must not fail: the task may be an OOM victim. */
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

/* Address and size of what is still to be read of a fetch's request. */
static u64 wanted_addr(const struct nvdebug_fetch *fetch)
{
	return fetch->want.addr + fetch->progress.done * sizeof(u32);
}

static u64 wanted_bytes(const struct nvdebug_fetch *fetch)
{
	return (fetch->want.words - fetch->progress.done) * sizeof(u32);
}

/* Is it an address that can exist? */
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

/* Check words read through a BAR for error codes of the register bus. */
static int mem_check_answer(struct nvdebug_session *s,
			    struct nvdebug_mem_request *req)
{
	size_t step = req->even_only ? 2 : 1;
	size_t i, errors = 0, wanted = 0;
	int ret = 0;

	for (i = 0; i < req->words; i += step) {
		wanted++;
		errors += nvdebug_reg_value_check(req->buf[i]) != 0;
	}
	if (!errors)
		return 0;

	req->suspect = true;
	/* once per batch of reads */
	if (!s->alive)
		ret = nvdebug_gpu_check_alive(s->base.gpu);
	if (ret)
		return ret;
	s->alive = true;
	return errors == wanted ? -EIO : 0;
}

static void fetch_start_request(struct nvdebug_fetch *fetch)
{
	fetch->want.suspect = false;
	fetch->progress.done = 0;
	fetch->progress.tries = 0;
	fetch->progress.over_bus = false;
}

/*
 * The request was read, or failed with @error. Returns a fatal error, 0 if the
 * fetch is done and dequeued, or 1 if it has another request.
 */
static int fetch_end_request(struct nvdebug_session *s,
			     struct nvdebug_fetch *fetch, int error)
{
	struct nvdebug_mem_request *req = &fetch->want;

	if (!error && fetch->progress.over_bus)
		error = mem_check_answer(s, req);
	if (nvdebug_mem_error_is_fatal(error))
		return error;
	if (!error && req->table)
		nvdebug_table_cache_put(&s->tables, req->aperture, req->addr,
					req->buf, req->words);
	if (!fetch->step(fetch, error)) {
		list_del(&fetch->progress.queue);
		return 0;
	}
	fetch_start_request(fetch);
	return 1;
}

static size_t fetch_known_words(struct nvdebug_session *s,
				struct nvdebug_fetch *fetch)
{
	struct nvdebug_mem_request *req = &fetch->want;
	size_t done = fetch->progress.done;

	if (!req->table)
		return 0;
	return nvdebug_table_cache_get(&s->tables, req->aperture,
				       wanted_addr(fetch), req->buf + done,
				       req->words - done);
}

/*
 * Serve the fetch until it needs video memory. Returns as fetch_end_request().
 */
static int fetch_advance(struct nvdebug_session *s, struct nvdebug_fetch *fetch)
{
	struct nvdebug_mem_request *req = &fetch->want;
	size_t *done = &fetch->progress.done;
	int ret;

	do {
		ret = mem_check_request(s->base.gpu, req);
		if (!ret)
			*done += fetch_known_words(s, fetch);
		if (!ret && *done < req->words) {
			if (nvdebug_mem_place(s->base.gpu, req->aperture) ==
			    NVDEBUG_PLACE_VIDEO)
				return 1;
			ret = nvdebug_sysmem_read(s->base.gpu, wanted_addr(fetch),
						  req->buf + *done,
						  req->words - *done);
		}
		ret = fetch_end_request(s, fetch, ret);
	} while (ret > 0);
	return ret;
}

static int fetch_end_and_advance(struct nvdebug_session *s,
				 struct nvdebug_fetch *fetch, int error)
{
	int ret = fetch_end_request(s, fetch, error);

	return ret > 0 ? fetch_advance(s, fetch) : ret;
}

/* More words of the request were read. Returns as fetch_end_request(). */
static int fetch_progress_take(struct nvdebug_session *s,
			       struct nvdebug_fetch *fetch)
{
	if (fetch->progress.done < fetch->want.words)
		return fetch_advance(s, fetch);
	return fetch_end_and_advance(s, fetch, 0);
}

/* Move fetches that a window at @position covers from @queue to @picked. */
static void queue_pick(struct nvdebug_session *s, struct list_head *queue,
		       u32 position, struct list_head *picked)
{
	struct nvdebug_fetch *fetch, *next;

	list_for_each_entry_safe(fetch, next, queue, progress.queue) {
		u64 shown = nvdebug_pramin_shows(&s->pramin, position,
						 wanted_addr(fetch));

		if (!shown)
			continue;
		shown = min(wanted_bytes(fetch), shown);
		fetch->progress.piece = shown / sizeof(u32);
		list_move_tail(&fetch->progress.queue, picked);
	}
}

/* Return all fetches to @queue and account for what was read of each. */
static int queue_put_back(struct nvdebug_session *s, struct list_head *queue,
			  struct list_head *picked)
{
	struct nvdebug_fetch *fetch, *next;
	int ret = 0;

	list_for_each_entry_safe(fetch, next, picked, progress.queue) {
		struct nvdebug_mem_progress *progress = &fetch->progress;

		list_move_tail(&progress->queue, queue);
		progress->done += progress->got;
		if (progress->got)
			ret = fetch_progress_take(s, fetch);
		else if (progress->tries >= NVDEBUG_PRAMIN_TRIES)
			ret = fetch_end_and_advance(s, fetch, -EBUSY);
		if (ret < 0)
			break;
	}
	list_splice_tail(picked, queue);
	return ret < 0 ? ret : 0;
}

/* A fetch of a single request. */
struct single_fetch {
	struct nvdebug_fetch fetch;
	int error;
};

static bool single_fetch_step(struct nvdebug_fetch *fetch, int error)
{
	container_of(fetch, struct single_fetch, fetch)->error = error;
	return false;
}

/*
 * Read everything that a window at @position covers, including requests that
 * follow from it. -EAGAIN: the window was moved by others.
 */
static int queue_read_position(struct nvdebug_session *s,
			       struct list_head *queue, u32 position)
{
	LIST_HEAD(picked);
	int ret, error;

	for (;;) {
		queue_pick(s, queue, position, &picked);
		if (list_empty(&picked))
			return 0;
		s->alive = false;
		ret = nvdebug_pramin_read(&s->pramin, position, &picked);
		if (ret == -EAGAIN)
			nvdebug_pramin_look(&s->pramin);
		error = queue_put_back(s, queue, &picked);
		if (error || ret)
			return error ? error : ret;
	}
}

/* Read as much of the request as one mapped BAR page has. */
static int fetch_read_bar(struct nvdebug_session *s,
			  struct nvdebug_fetch *fetch)
{
	struct nvdebug_mem_request *req = &fetch->want;
	size_t step = req->even_only ? 2 : 1;
	size_t *done = &fetch->progress.done;
	struct nvdebug_bar_place place;
	size_t end, first = *done, i;
	bool asked = false;
	int ret;

	if (!s->pramin.insist && fatal_signal_pending(current))
		return -EINTR;
	if (!s->pramin.insist && nvdebug_gpu_is_leaving(s->base.gpu))
		return -ENODEV;
	ret = nvdebug_bar_find(&s->bars, wanted_addr(fetch), &place);
	if (ret)
		return ret;
	s->alive = false;
	end = min(req->words, first + place.words);
	for (i = round_up(first, step); i < end; i += step) {
		req->buf[i] = readl(place.at + (i - first) * sizeof(u32));
		if (req->buf[i] != ~0u || asked)
			continue;
		/* each read that times out may take long: check once */
		asked = true;
		ret = nvdebug_gpu_check_alive(s->base.gpu);
		if (ret)
			return ret;
	}
	*done = end;
	fetch->progress.over_bus = true;
	cond_resched();
	return 0;
}

/* Returns 1 if anything was read, since new requests may follow. */
static int queue_read_bars(struct nvdebug_session *s, struct list_head *queue)
{
	struct nvdebug_fetch *fetch, *next;
	int ret, any = 0;

	list_for_each_entry_safe(fetch, next, queue, progress.queue) {
		do {
			ret = fetch_read_bar(s, fetch);
			if (!ret) {
				any = 1;
				ret = fetch_progress_take(s, fetch);
			}
		} while (ret > 0);
		if (ret && ret != -ENOENT)
			return ret;
	}
	return any;
}

/* Fail the current request of all fetches with @error. */
static int queue_fail(struct nvdebug_session *s, struct list_head *queue,
		      int error)
{
	struct nvdebug_fetch *fetch, *next;
	LIST_HEAD(failed);
	int ret;

	list_splice_init(queue, &failed);
	list_for_each_entry_safe(fetch, next, &failed, progress.queue) {
		list_move_tail(&fetch->progress.queue, queue);
		ret = fetch_end_and_advance(s, fetch, error);
		if (ret < 0) {
			list_splice_tail(&failed, queue);
			return ret;
		}
	}
	return 0;
}

/* Can it be read without moving the window? */
static bool fetch_is_in_reach(struct nvdebug_session *s,
			      struct nvdebug_fetch *fetch)
{
	struct nvdebug_bar_place place;
	u64 addr = wanted_addr(fetch);

	return nvdebug_pramin_shows(&s->pramin, s->pramin.standing, addr) ||
	       !s->bars.settled || !nvdebug_bar_find(&s->bars, addr, &place);
}

static struct nvdebug_fetch *queue_next_out_of_reach(struct nvdebug_session *s,
						     struct list_head *queue)
{
	struct nvdebug_fetch *fetch;

	list_for_each_entry(fetch, queue, progress.queue)
		if (!fetch_is_in_reach(s, fetch))
			return fetch;
	return NULL;
}

/* Read the rest by moving the window. */
static int queue_read_moved(struct nvdebug_session *s, struct list_head *queue)
{
	struct nvdebug_pramin *p = &s->pramin;
	struct nvdebug_fetch *fetch;
	int ret = 0;

	if (p->error)
		return queue_fail(s, queue, p->error);
	if (!nvdebug_pramin_may_move(p))
		return queue_fail(s, queue, -EOPNOTSUPP);

	while (!ret && (fetch = queue_next_out_of_reach(s, queue))) {
		u64 addr = wanted_addr(fetch);
		u64 bytes = wanted_bytes(fetch);

		if (nvdebug_pramin_reaches(p, addr + bytes - 1))
			ret = queue_read_position(s, queue,
						  nvdebug_pramin_position(p, addr,
									  bytes));
		else
			ret = fetch_end_and_advance(s, fetch, -EFAULT);
		ret = min(ret, 0);
	}
	return ret;
}

/* Read all that is possible without moving the window. */
static int queue_read_standing(struct nvdebug_session *s,
			       struct list_head *queue)
{
	int ret;

	do {
		ret = 0;
		if (!s->pramin.error)
			ret = queue_read_position(s, queue, s->pramin.standing);
		if (!ret)
			ret = queue_read_bars(s, queue);
	} while (ret > 0);
	return ret;
}

static int queue_read_video(struct nvdebug_session *s, struct list_head *queue)
{
	struct nvdebug_pramin *p = &s->pramin;
	int ret;

	nvdebug_pramin_look(p);
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

void nvdebug_mem_insist(struct nvdebug_mem *mem)
{
	nvdebug_session(mem)->pramin.insist = true;
}

int nvdebug_mem_fetch(struct nvdebug_mem *mem, struct list_head *fetches)
{
	struct nvdebug_session *s = nvdebug_session(mem);
	struct nvdebug_fetch *fetch;
	LIST_HEAD(queue);
	int ret;

	list_for_each_entry(fetch, fetches, node) {
		list_add_tail(&fetch->progress.queue, &queue);
		fetch_start_request(fetch);
		ret = fetch_advance(s, fetch);
		if (ret < 0)
			return ret;
	}
	return list_empty(&queue) ? 0 : queue_read_video(s, &queue);
}

int nvdebug_mem_read(struct nvdebug_mem *mem, struct nvdebug_mem_request *req)
{
	struct single_fetch single = {
		.fetch = { .want = *req, .step = single_fetch_step },
	};
	LIST_HEAD(fetches);
	int ret;

	list_add(&single.fetch.node, &fetches);
	ret = nvdebug_mem_fetch(mem, &fetches);
	req->suspect = single.fetch.want.suspect;
	return ret ? ret : single.error;
}

static int bar_write_word(struct nvdebug_gpu *gpu,
			  const struct nvdebug_bar_place *place, u32 expected,
			  u32 value)
{
	unsigned long flags;
	int ret;

	/* no other write of the module between compare and write */
	mutex_lock(&gpu->lock);
	local_irq_save(flags);
	ret = nvdebug_word_check(readl(place->at), expected);
	if (!ret) {
		writel(value, place->at);
		ret = readl(place->at) == value ? 0 : -EIO;
	}
	local_irq_restore(flags);
	mutex_unlock(&gpu->lock);
	return ret;
}

/* In the same order of preference as reading. */
static int write_video(struct nvdebug_session *s, u64 addr, u32 expected,
		       u32 value)
{
	struct nvdebug_pramin *p = &s->pramin;
	struct nvdebug_bar_place place;

	nvdebug_pramin_look(p);
	if (nvdebug_mem_error_is_fatal(p->error))
		return p->error;
	if (!p->error && nvdebug_pramin_may_write(p) &&
	    nvdebug_pramin_shows(p, p->standing, addr))
		return nvdebug_pramin_write(p, p->standing, addr, expected,
					    value);
	if (!nvdebug_bar_find(&s->bars, addr, &place))
		return bar_write_word(s->base.gpu, &place, expected, value);
	if (p->error)
		return p->error;
	if (!nvdebug_pramin_reaches(p, addr))
		return -EFAULT;
	if (!nvdebug_pramin_may_move(p))
		return -EOPNOTSUPP;
	return nvdebug_pramin_write(p, nvdebug_pramin_position(p, addr,
							       sizeof(u32)),
				    addr, expected, value);
}

static int write_video_again(struct nvdebug_session *s, u64 addr, u32 expected,
			     u32 value)
{
	int tries = 0;
	int ret;

	do {
		ret = write_video(s, addr, expected, value);
	} while (ret == -EAGAIN && ++tries < NVDEBUG_PRAMIN_TRIES);
	/* these are also how a GPU that is gone looks */
	if (ret == -EAGAIN || ret == -EBUSY || ret == -EIO) {
		int alive = nvdebug_gpu_check_alive(s->base.gpu);

		ret = alive ? alive : ret == -EAGAIN ? -EBUSY : ret;
	}
	return ret;
}

int nvdebug_mem_write(struct nvdebug_mem *mem, u8 aperture, u64 addr,
		      u32 expected, u32 value)
{
	struct nvdebug_session *s = nvdebug_session(mem);
	const struct nvdebug_mem_request req = {
		.addr = addr,
		.aperture = aperture,
		.words = 1,
	};
	int ret = mem_check_request(mem->gpu, &req);

	if (ret)
		return ret;
	if (nvdebug_mem_place(s->base.gpu, aperture) == NVDEBUG_PLACE_VIDEO)
		ret = write_video_again(s, addr, expected, value);
	else
		ret = nvdebug_sysmem_write(s->base.gpu, addr,
					   aperture == NV_APERTURE_COH,
					   expected, value);
	if (!ret)
		nvdebug_table_cache_change(&s->tables, aperture, addr, value);
	return ret;
}
