// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/seq_buf.h>

#include "control/lease.h"
#include "core/control.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "decode/targets.h"

int nvdebug_leases_init(struct nvdebug_leases *leases, struct nvdebug_gpu *gpu)
{
	if (mutex_lock_killable(&gpu->leases_lock))
		return -EINTR;
	mutex_init(&leases->lock);
	INIT_LIST_HEAD(&leases->undos);
	leases->count = 0;
	leases->visited = false;
	/*
	 * A turn that has begun need not visit this file: it has no lease, and
	 * no lease can be taken now.
	 */
	leases->turn = gpu->leases_turn;
	list_add_tail(&leases->node, &gpu->leases);
	mutex_unlock(&gpu->leases_lock);
	return 0;
}

static int lease_take_locked(struct nvdebug_leases *leases,
			     struct nvdebug_gpu *gpu,
			     const struct nvdebug_control *control,
			     const char *text, size_t len,
			     struct seq_buf *answer)
{
	struct nvdebug_undo *undo;
	int ret;

	lockdep_assert_held(&leases->lock);
	if (leases->count == NVDEBUG_LEASES_MAX)
		return -ENOSPC;
	ret = control->act(gpu, text, len, answer, &undo);
	if (ret)
		return ret;
	list_add(&undo->node, &leases->undos);
	leases->count++;
	return 0;
}

static int lease_take(struct nvdebug_leases *leases, struct nvdebug_gpu *gpu,
		      const struct nvdebug_control *control, const char *text,
		      size_t len, struct seq_buf *answer)
{
	int ret;

	if (mutex_lock_killable(&leases->lock))
		return -EINTR;
	ret = lease_take_locked(leases, gpu, control, text, len, answer);
	mutex_unlock(&leases->lock);
	return ret;
}

/* Skip "lease" at the start of a request. Returns true if it was there. */
static bool skip_lease_word(struct nvdebug_cursor *cur)
{
	static const char * const word[] = { "lease" };
	struct nvdebug_cursor next = *cur;

	if (!nvdebug_cursor_more(&next) ||
	    nvdebug_cursor_choice(&next, word, ARRAY_SIZE(word)))
		return false;
	*cur = next;
	return true;
}

int nvdebug_request(struct nvdebug_gpu *gpu,
		    const struct nvdebug_control *control,
		    struct nvdebug_leases *leases, const char *text, size_t len,
		    struct seq_buf *answer)
{
	struct nvdebug_cursor cur = { text, text + len };
	int ret;

	if (control->changes && READ_ONCE(gpu->uncontrollable))
		return -ENOTRECOVERABLE;
	if (control->leases && skip_lease_word(&cur))
		ret = lease_take(leases, gpu, control, cur.at,
				 cur.end - cur.at, answer);
	else
		ret = control->act(gpu, text, len, answer, NULL);
	if (!ret && answer && seq_buf_has_overflowed(answer))
		ret = -EFBIG;
	return ret;
}

/*
 * Begin the undo. Fails for a GPU that is suspended, gone or between drivers,
 * because such a GPU cannot be restored.
 */
static int leases_begin_undo(struct nvdebug_gpu *gpu)
{
	int ret = nvdebug_gpu_begin_undo(gpu);

	if (ret)
		return ret;
	ret = nvdebug_gpu_check_alive(gpu);
	if (ret)
		nvdebug_gpu_end(gpu);
	return ret;
}

/*
 * Undo all leases of a file, the last one first. Not interruptible. hw_access
 * is taken inside of leases->lock, here as by requests, and leases_lock inside
 * of all locks.
 */
static void leases_undo(struct nvdebug_leases *leases, struct nvdebug_gpu *gpu)
{
	struct nvdebug_undo *undo, *next;
	int error;

	lockdep_assert_held(&leases->lock);
	if (!leases->count)
		return;
	error = leases_begin_undo(gpu);
	if (error)
		nvdebug_err_ratelimit(gpu,
				      "%u lease%s over, but the GPU sleeps, has gone or gets another driver: nothing is put back (%d)\n",
				      leases->count, leases->count == 1 ? " is" : "s are",
				      error);
	list_for_each_entry_safe(undo, next, &leases->undos, node) {
		if (!error)
			undo->run(gpu, undo);
		kvfree(undo);
	}
	if (!error)
		nvdebug_gpu_end(gpu);
	INIT_LIST_HEAD(&leases->undos);
	leases->count = 0;
}

/*
 * Undo the leases and take the file off the list. Returns false while
 * nvdebug_leases_end_all() is about to lock the file.
 */
static bool leases_end(struct nvdebug_leases *leases, struct nvdebug_gpu *gpu)
{
	bool visited;

	mutex_lock(&leases->lock);
	leases_undo(leases, gpu);
	mutex_lock(&gpu->leases_lock);
	visited = leases->visited;
	if (!visited)
		list_del(&leases->node);
	mutex_unlock(&gpu->leases_lock);
	mutex_unlock(&leases->lock);
	return !visited;
}

void nvdebug_leases_end(struct nvdebug_leases *leases, struct nvdebug_gpu *gpu)
{
	/*
	 * Sleep until the visitor has had the file's lock: on this CPU it does
	 * not run as long as a task of real-time priority does.
	 */
	while (!leases_end(leases, gpu))
		usleep_range(20, 50);
	mutex_destroy(&leases->lock);
}

/* Find an open file that this turn has not visited. */
static struct nvdebug_leases *leases_next(struct nvdebug_gpu *gpu, u32 turn)
{
	struct nvdebug_leases *leases;

	lockdep_assert_held(&gpu->leases_lock);
	list_for_each_entry(leases, &gpu->leases, node)
		if (leases->turn != turn)
			return leases;
	return NULL;
}

/*
 * The undo of a file may take seconds. Only the file's own close waits for it,
 * and this function waits for an end that has begun.
 */
void nvdebug_leases_end_all(struct nvdebug_gpu *gpu)
{
	struct nvdebug_leases *leases;
	u32 turn;

	mutex_lock(&gpu->leases_end_lock);
	mutex_lock(&gpu->leases_lock);
	turn = ++gpu->leases_turn;
	while ((leases = leases_next(gpu, turn))) {
		leases->turn = turn;
		leases->visited = true;
		mutex_unlock(&gpu->leases_lock);

		mutex_lock(&leases->lock);
		leases_undo(leases, gpu);
		mutex_lock(&gpu->leases_lock);
		leases->visited = false;
		/* The file is not freed before leases_lock is free. */
		mutex_unlock(&leases->lock);
	}
	mutex_unlock(&gpu->leases_lock);
	mutex_unlock(&gpu->leases_end_lock);
}
