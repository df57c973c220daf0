// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/irqflags.h>

#include "chips/chips.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "decode/register.h"
#include "decode/runlist.h"
#include "decode/submit.h"
#include "host/await.h"
#include "host/submit.h"
#include "host/trace.h"

/*
 * Return whether Host has taken the list that was submitted to the runlist
 * @what.
 */
static int submit_is_taken(struct nvdebug_gpu *gpu, const void *what)
{
	struct nvdebug_runlist_location loc;
	int ret = gpu->chip->runlist->location(gpu, what, &loc);

	return ret ? ret : !loc.pending;
}

/* Reads of the location until two agree. */
#define LOCATE_TRIES	3

int nvdebug_submit_locate(struct nvdebug_gpu *gpu,
			  const struct nvdebug_runlist *runlist,
			  struct nvdebug_runlist_location *loc)
{
	const struct nvdebug_runlist_ops *ops = gpu->chip->runlist;
	struct nvdebug_runlist_location again;
	int tries, ret;

	lockdep_assert_held(&gpu->lock);
	if (gpu->uncontrollable)
		return -ENOTRECOVERABLE;
	ret = ops->location(gpu, runlist, loc);
	if (ret)
		return ret;
	for (tries = 0; tries < LOCATE_TRIES; tries++) {
		ret = ops->location(gpu, runlist, &again);
		if (ret)
			return ret;
		if (nvdebug_runlist_location_same(loc, &again))
			return 0;
		*loc = again;
	}
	return -EBUSY;
}

int nvdebug_submit_settle(struct nvdebug_gpu *gpu,
			  const struct nvdebug_runlist *runlist,
			  struct nvdebug_runlist_location *loc)
{
	int ret;

	lockdep_assert_held(&gpu->lock);
	ret = nvdebug_await(gpu, submit_is_taken, runlist);
	return ret ? ret : nvdebug_submit_locate(gpu, runlist, loc);
}

int nvdebug_submit_settle_undo(struct nvdebug_gpu *gpu,
			       const struct nvdebug_runlist *runlist,
			       struct nvdebug_runlist_location *loc)
{
	int ret;

	lockdep_assert_held(&gpu->lock);
	ret = nvdebug_await_undo(gpu, submit_is_taken, runlist);
	return ret ? ret : nvdebug_submit_locate(gpu, runlist, loc);
}

void nvdebug_submit_give_up(struct nvdebug_gpu *gpu,
			    const struct nvdebug_runlist *runlist, int error)
{
	lockdep_assert_held(&gpu->lock);
	if (gpu->uncontrollable)
		return;
	WRITE_ONCE(gpu->uncontrollable, true);
	nvdebug_err_ratelimit(gpu,
			      "runlist %u: its registers may still have the address of a list that was not submitted (%d), so all controls of this GPU fail from now on: reload nvdebug after the driver has submitted its list anew, or reboot\n",
			      runlist->id, error);
}

/*
 * Check that the registers have the values @word. -EIO if some registers read
 * as @before, as if the write was lost, or as an error code; -EBUSY if some
 * have another value, written by a driver meanwhile.
 */
static int submit_check_written(struct nvdebug_gpu *gpu, u32 reg,
				const u32 *word, const u32 *before, int words)
{
	int ret, i, lost = 0;
	u32 value;

	for (i = 0; i < words; i++) {
		ret = nvdebug_reg_read_address(gpu, reg + 4 * i, U32_MAX,
					       &value);
		if (ret)
			return ret;
		if (value == word[i])
			continue;
		if (value != before[i] && !nvdebug_reg_value_check(value))
			return -EBUSY;
		lost = -EIO;
	}
	return lost;
}

/*
 * Return -EBUSY if another list than the list at @expected is current or
 * submitted.
 */
static int submit_check_current(struct nvdebug_gpu *gpu,
				const struct nvdebug_runlist *runlist,
				const struct nvdebug_runlist_location *expected)
{
	struct nvdebug_runlist_location now;
	int ret = gpu->chip->runlist->location(gpu, runlist, &now);

	if (ret)
		return ret;
	if (!nvdebug_runlist_location_same(&now, expected) ||
	    (now.pending && !expected->pending))
		return -EBUSY;
	return 0;
}

/* The registers of a submit and their values. */
struct submit_words {
	u32 reg;		/* the first one */
	int words;
	u32 word[NVDEBUG_SUBMIT_WORDS];
	u32 old[NVDEBUG_SUBMIT_WORDS];	/* values before the submit */
	int written;		/* written registers, from the first one on */
	int restored;		/* 0, or the error of restoring RUNLIST_BASE */
};

/*
 * Restore RUNLIST_BASE, because an address that was not submitted would look
 * current.
 */
static void submit_restore_base(struct nvdebug_gpu *gpu,
				struct submit_words *s)
{
	int words = s->words - 1, ret, i;

	for (i = 0; i < words; i++)
		nvdebug_reg_write(gpu, s->reg + 4 * i, s->old[i]);
	ret = submit_check_written(gpu, s->reg, s->old, s->word, words);
	/* -EBUSY: a driver has written the registers since. */
	s->restored = ret == -EBUSY ? 0 : ret;
}

static int submit_read_old(struct nvdebug_gpu *gpu, struct submit_words *s)
{
	int ret = 0, i;

	for (i = 0; !ret && i < s->words; i++)
		/*
		 * An address may look like an error code. The last register has
		 * no address.
		 */
		ret = i == s->words - 1 ?
			nvdebug_reg_read(gpu, s->reg + 4 * i, &s->old[i]) :
			nvdebug_reg_read_address(gpu, s->reg + 4 * i, U32_MAX,
						 &s->old[i]);
	return ret;
}

/*
 * Write the registers. The address is written for an empty list, too, as in
 * nouveau (drm/nouveau/nvkm/engine/fifo/gk104.c). linux-nvgpu does not write
 * it, which would leave another runlist's address at the shared port.
 */
static int submit_write(struct nvdebug_gpu *gpu, struct submit_words *s)
{
	int last = s->words - 1;
	int ret;

	for (; s->written < last; s->written++)
		nvdebug_reg_write(gpu, s->reg + 4 * s->written,
				  s->word[s->written]);
	ret = submit_check_written(gpu, s->reg, s->word, s->old, last);
	if (ret) {
		if (ret != -EBUSY)
			submit_restore_base(gpu, s);
		return ret;
	}
	/* The last register submits the address that is in the others. */
	nvdebug_reg_write(gpu, s->reg + 4 * last, s->word[last]);
	s->written++;
	return 0;
}

int nvdebug_submit(struct nvdebug_gpu *gpu,
		   const struct nvdebug_runlist *runlist,
		   const struct nvdebug_runlist_location *loc,
		   const struct nvdebug_runlist_location *expected)
{
	const struct nvdebug_submit_ops *ops = gpu->chip->submit;
	struct submit_words s = { .reg = ops->port(runlist) };
	unsigned long flags;
	int ret, i;

	lockdep_assert_held(&gpu->lock);
	s.words = ops->encode(loc, runlist->id, ops->ptr, s.word);
	if (s.words < 0)
		return s.words;

	/*
	 * With interrupts off only a write by another CPU can come between the
	 * check and the writes, or between two writes. That must be rare,
	 * because up to Volta the last write submits whatever address the
	 * shared port has.
	 */
	local_irq_save(flags);
	ret = submit_check_current(gpu, runlist, expected);
	if (!ret)
		ret = submit_read_old(gpu, &s);
	if (!ret)
		ret = submit_write(gpu, &s);
	local_irq_restore(flags);

	for (i = 0; i < s.written; i++)
		trace_runlist_submit(gpu, runlist->id, -1, s.reg + 4 * i,
				     s.old[i], s.word[i]);
	if (s.restored)
		nvdebug_submit_give_up(gpu, runlist, s.restored);
	return ret;
}

int nvdebug_submit_again(struct nvdebug_gpu *gpu,
			 const struct nvdebug_runlist *runlist)
{
	struct nvdebug_runlist_location loc;
	int ret;

	ret = nvdebug_submit_settle(gpu, runlist, &loc);
	if (ret)
		return ret;
	ret = nvdebug_submit(gpu, runlist, &loc, &loc);
	return ret ? ret : nvdebug_submit_settle(gpu, runlist, &loc);
}
