// SPDX-License-Identifier: MIT OR GPL-2.0

#include "chips/chips.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "decode/register.h"
#include "decode/runlist.h"
#include "decode/submit.h"
#include "host/await.h"
#include "host/submit.h"
#include "host/trace.h"

static int submit_is_taken(struct nvdebug_gpu *gpu, const void *what)
{
	struct nvdebug_runlist_location loc;
	int ret = gpu->chip->runlist->location(gpu, what, &loc);

	return ret ? ret : !loc.pending;
}

/* Reads of the location until two agree. */
#define LOOKS	3

int nvdebug_submit_look(struct nvdebug_gpu *gpu,
			const struct nvdebug_runlist *runlist,
			struct nvdebug_runlist_location *loc)
{
	const struct nvdebug_runlist_ops *ops = gpu->chip->runlist;
	struct nvdebug_runlist_location again;
	int tries, ret;

	lockdep_assert_held(&gpu->lock);
	ret = ops->location(gpu, runlist, loc);
	for (tries = 0; !ret && tries < LOOKS; tries++) {
		ret = ops->location(gpu, runlist, &again);
		if (!ret && nvdebug_runlist_location_same(loc, &again))
			return 0;
		*loc = again;
	}
	return ret ? ret : -EBUSY;
}

int nvdebug_submit_settle(struct nvdebug_gpu *gpu,
			  const struct nvdebug_runlist *runlist,
			  struct nvdebug_runlist_location *loc)
{
	int ret;

	lockdep_assert_held(&gpu->lock);
	ret = nvdebug_await(gpu, submit_is_taken, runlist);
	return ret ? ret : nvdebug_submit_look(gpu, runlist, loc);
}

int nvdebug_submit_settle_undo(struct nvdebug_gpu *gpu,
			       const struct nvdebug_runlist *runlist,
			       struct nvdebug_runlist_location *loc)
{
	int ret;

	lockdep_assert_held(&gpu->lock);
	ret = nvdebug_await_undo(gpu, submit_is_taken, runlist);
	return ret ? ret : nvdebug_submit_look(gpu, runlist, loc);
}

/*
 * Check that the registers have the values @word. -EIO if some read as @before,
 * as if the write was lost, or as an error code; -EBUSY if some have another
 * value, written by a driver meanwhile.
 */
static int submit_check_written(struct nvdebug_gpu *gpu, u32 reg,
				const u32 *word, const u32 *before, int words)
{
	int ret, i, found = 0;
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
		found = -EIO;
	}
	return found;
}

/* Restore RUNLIST_BASE: an address that was not submitted looks current. */
static void submit_restore_base(struct nvdebug_gpu *gpu,
				const struct nvdebug_runlist *runlist, u32 reg,
				const u32 *old, const u32 *word, int words)
{
	int ret, i;

	for (i = 0; i < words; i++)
		nvdebug_reg_write(gpu, reg + 4 * i, old[i]);
	ret = submit_check_written(gpu, reg, old, word, words);
	/* -EBUSY: a driver has written them since */
	if (ret && ret != -EBUSY)
		nvdebug_err_ratelimit(gpu,
				      "runlist %u: failed to restore RUNLIST_BASE (%d)\n",
				      runlist->id, ret);
}

int nvdebug_submit(struct nvdebug_gpu *gpu,
		   const struct nvdebug_runlist *runlist,
		   const struct nvdebug_runlist_location *loc)
{
	const struct nvdebug_submit_ops *ops = gpu->chip->submit;
	u32 word[NVDEBUG_SUBMIT_WORDS], old[NVDEBUG_SUBMIT_WORDS];
	u32 reg = ops->port(runlist);
	int words, ret, i;

	lockdep_assert_held(&gpu->lock);
	words = ops->encode(loc, runlist->id, ops->ptr, word);
	if (words < 0)
		return words;

	for (i = 0; i < words; i++) {
		/* the last one has no address, so it shows a bus error */
		ret = i == words - 1 ?
			nvdebug_reg_read(gpu, reg + 4 * i, &old[i]) :
			nvdebug_reg_read_address(gpu, reg + 4 * i, U32_MAX,
						 &old[i]);
		if (ret)
			return ret;
	}
	/*
	 * The address is written for an empty list, too, as in nouveau
	 * (drm/nouveau/nvkm/engine/fifo/gk104.c). linux-nvgpu does not write
	 * it, which would leave another runlist's address at the shared port.
	 */
	for (i = 0; i < words; i++) {
		/* the last one submits the address that is in the others */
		ret = 0;
		if (i == words - 1)
			ret = submit_check_written(gpu, reg, word, old, i);
		if (ret && ret != -EBUSY)
			submit_restore_base(gpu, runlist, reg, old, word, i);
		if (ret)
			return ret;
		nvdebug_reg_write(gpu, reg + 4 * i, word[i]);
		trace_runlist_submit(gpu, runlist->id, -1,
				     reg + 4 * i, old[i], word[i]);
	}
	return 0;
}

void nvdebug_submit_withdraw(struct nvdebug_gpu *gpu,
			     const struct nvdebug_runlist *runlist,
			     const struct nvdebug_runlist_location *loc,
			     const struct nvdebug_runlist_location *was)
{
	const struct nvdebug_submit_ops *ops = gpu->chip->submit;
	u32 word[NVDEBUG_SUBMIT_WORDS], old[NVDEBUG_SUBMIT_WORDS];
	int words;

	lockdep_assert_held(&gpu->lock);
	words = ops->encode(loc, runlist->id, ops->ptr, word);
	if (words < 0 || ops->encode(was, runlist->id, ops->ptr, old) != words)
		return;
	submit_restore_base(gpu, runlist, ops->port(runlist), old, word,
			    words - 1);
}

int nvdebug_submit_again(struct nvdebug_gpu *gpu,
			 const struct nvdebug_runlist *runlist)
{
	struct nvdebug_runlist_location loc;
	int ret;

	ret = nvdebug_submit_settle(gpu, runlist, &loc);
	if (ret)
		return ret;
	ret = nvdebug_submit(gpu, runlist, &loc);
	return ret ? ret : nvdebug_submit_settle(gpu, runlist, &loc);
}
