// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/err.h>
#include <linux/mm.h>

#include "chips/chips.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "core/runlist.h"
#include "decode/runlist.h"
#include "hw/ram.h"
#include "hw/runlist.h"
#include "state/override.h"
#include "state/runlist.h"

int nvdebug_runlist_prepare(struct nvdebug_gpu *gpu,
			    struct nvdebug_runlist *runlist)
{
	int ret = 0;

	if (mutex_lock_killable(&gpu->lock))
		return -EINTR;
	if (!runlist->channels)
		ret = gpu->chip->runlist->prepare(gpu, runlist);
	mutex_unlock(&gpu->lock);
	return ret;
}

int nvdebug_runlist_length(struct nvdebug_gpu *gpu,
			   const struct nvdebug_runlist *runlist, u32 *entries)
{
	const struct nvdebug_runlist_ops *ops = gpu->chip->runlist;
	u32 value;
	int ret;

	ret = nvdebug_reg_read(gpu, ops->registers(runlist) + ops->length_offset,
			       &value);
	if (!ret)
		*entries = FIELD_GET(NV_RUNLIST_SUBMIT_LENGTH, value);
	return ret;
}

/* Take gpu->lock. This is not interruptible while state is restored. */
static int mem_lock_gpu(const struct nvdebug_mem *mem)
{
	if (!mem->restoring)
		return mutex_lock_killable(&mem->gpu->lock) ? -EINTR : 0;
	mutex_lock(&mem->gpu->lock);
	return 0;
}

/* The type of ->skip() in struct nvdebug_mem_request. */
typedef bool (*skip_fn)(const u32 *buf, size_t i);

/* Attempts to copy a list before the copy is marked torn. */
#define COPY_TRIES	3

static bool list_is_readable(const struct nvdebug_runlist_location *loc)
{
	return loc->aperture == NV_APERTURE_VID ||
	       loc->aperture == NV_APERTURE_COH ||
	       loc->aperture == NV_APERTURE_NCOH;
}

/*
 * Return whether the list is in video memory. The aperture does not say: on a
 * Jetson TX2 NV_APERTURE_VID is system memory.
 */
static bool list_is_in_video_memory(const struct nvdebug_gpu *gpu,
				    const struct nvdebug_runlist_location *loc)
{
	return nvdebug_mem_place(gpu, loc->aperture) == NVDEBUG_PLACE_VIDEO;
}

/* Read the entries of the list at @loc into a new buffer, *@words. */
static int list_copy_entries(struct nvdebug_gpu *gpu, struct nvdebug_mem *mem,
			     const struct nvdebug_runlist_location *loc,
			     skip_fn skip, u32 **words)
{
	const struct nvdebug_runlist_ops *ops = gpu->chip->runlist;
	struct nvdebug_mem_request req = {
		.addr = loc->addr,
		.aperture = loc->aperture,
		.skip = skip,
		.words = (size_t)loc->entries * ops->entry_words,
	};
	u32 i;
	int ret;

	*words = NULL;
	if (!loc->entries || !list_is_readable(loc))
		return 0;

	/* The buffer is zeroed, because skipped words must have no meaning. */
	req.buf = kvcalloc(req.words, sizeof(u32), GFP_KERNEL_ACCOUNT);
	if (!req.buf)
		return -ENOMEM;
	ret = nvdebug_mem_read(mem, &req);
	for (i = 0; !ret && req.maybe_pri_error && i < loc->entries; i++)
		if (ops->is_pri_error(req.buf + i * ops->entry_words,
				      ops->entry_words))
			ret = -EIO;
	if (ret) {
		kvfree(req.buf);
		return ret;
	}
	*words = req.buf;
	return 0;
}

static int runlist_locate_locked(struct nvdebug_gpu *gpu,
				 const struct nvdebug_runlist *runlist,
				 bool original,
				 struct nvdebug_runlist_location *loc)
{
	int ret = gpu->chip->runlist->location(gpu, runlist, loc);

	if (!ret && original)
		nvdebug_override_original(gpu, runlist, loc);
	return ret;
}

static int runlist_locate(struct nvdebug_gpu *gpu, const struct nvdebug_mem *mem,
			  const struct nvdebug_runlist *runlist, bool original,
			  struct nvdebug_runlist_location *loc)
{
	int ret;

	if (!original)
		return gpu->chip->runlist->location(gpu, runlist, loc);
	ret = mem_lock_gpu(mem);
	if (ret)
		return ret;
	ret = runlist_locate_locked(gpu, runlist, original, loc);
	mutex_unlock(&gpu->lock);
	return ret;
}

/*
 * Copy the list at @copy->loc. A list in system memory may be an override list,
 * which is freed, and its memory reused, when another list is submitted. So
 * @copy->loc is read again and the list copied under gpu->lock. -EAGAIN if the
 * list is in video memory by then, where reads take the lock themselves.
 */
static int list_copy_at(struct nvdebug_gpu *gpu, struct nvdebug_mem *mem,
			const struct nvdebug_runlist *runlist, bool original,
			skip_fn skip,
			struct nvdebug_runlist_copy *copy)
{
	int ret;

	if (list_is_in_video_memory(gpu, &copy->loc))
		return list_copy_entries(gpu, mem, &copy->loc, skip,
					 &copy->words);
	ret = mem_lock_gpu(mem);
	if (ret)
		return ret;
	ret = runlist_locate_locked(gpu, runlist, original, &copy->loc);
	if (ret)
		goto out;
	ret = -EAGAIN;
	if (list_is_in_video_memory(gpu, &copy->loc))
		goto out;
	ret = list_copy_entries(gpu, mem, &copy->loc, skip, &copy->words);
out:
	mutex_unlock(&gpu->lock);
	return ret;
}

/*
 * Copy the list, and again if it was replaced meanwhile. A replaced list may
 * also be the reason for an error, as its memory may have been reused.
 */
static int list_copy(struct nvdebug_gpu *gpu, struct nvdebug_mem *mem,
		     const struct nvdebug_runlist *runlist, bool original,
		     skip_fn skip, struct nvdebug_runlist_copy *copy)
{
	struct nvdebug_runlist_location now;
	int tries, ret, error;

	copy->words = NULL;
	copy->torn = false;
	ret = runlist_locate(gpu, mem, runlist, original, &now);
	if (ret)
		return ret;

	for (tries = 1; ; tries++) {
		copy->loc = now;
		error = list_copy_at(gpu, mem, runlist, original, skip, copy);
		if (nvdebug_mem_error_is_fatal(error))
			return error;
		/* Nothing was copied, so nothing can be torn. */
		if (!error && !copy->words)
			return 0;

		ret = runlist_locate(gpu, mem, runlist, original, &now);
		if (ret)
			break;
		copy->torn = error == -EAGAIN ||
			     !nvdebug_runlist_location_same(&copy->loc, &now);
		if (!copy->torn || tries == COPY_TRIES) {
			copy->loc.pending = now.pending;
			return error && copy->torn ? -EBUSY : error;
		}
		kvfree(copy->words);
		copy->words = NULL;
	}
	kvfree(copy->words);
	copy->words = NULL;
	return ret;
}

int nvdebug_runlist_copy(struct nvdebug_gpu *gpu, struct nvdebug_mem *mem,
			 const struct nvdebug_runlist *runlist, bool raw,
			 struct nvdebug_runlist_copy *copy)
{
	return list_copy(gpu, mem, runlist, false,
			 raw ? NULL : gpu->chip->runlist->skip, copy);
}

int nvdebug_runlist_copy_original(struct nvdebug_gpu *gpu,
				  struct nvdebug_mem *mem,
				  const struct nvdebug_runlist *runlist,
				  struct nvdebug_runlist_copy *copy)
{
	return list_copy(gpu, mem, runlist, true, NULL, copy);
}

int nvdebug_runlist_ids(struct nvdebug_gpu *gpu,
			const struct nvdebug_runlist *runlist,
			enum nvdebug_entry_kind kind, bool original,
			unsigned long *ids)
{
	const struct nvdebug_runlist_ops *ops = gpu->chip->runlist;
	struct nvdebug_entry entry;
	struct nvdebug_mem *mem;
	struct nvdebug_runlist_copy copy;
	u32 i;
	int ret;

	BUILD_BUG_ON(FIELD_MAX(NV_RAMRL16_2_ID) >= NVDEBUG_CHANNEL_IDS);
	mem = nvdebug_mem_begin(gpu);
	if (IS_ERR(mem))
		return PTR_ERR(mem);
	ret = list_copy(gpu, mem, runlist, original,
			nvdebug_entry_skip_all_but_id, &copy);
	nvdebug_mem_end(mem);
	if (ret)
		return ret;
	if (copy.torn)
		ret = -EBUSY;
	else if (copy.loc.entries && !copy.words)
		ret = -EIO;

	for (i = 0; !ret && i < copy.loc.entries; i++) {
		ret = ops->decode(copy.words + i * ops->entry_words,
				  ops->entry_words, &entry);
		if (!ret && entry.kind == kind)
			__set_bit(entry.id, ids);
	}
	kvfree(copy.words);
	return ret;
}
