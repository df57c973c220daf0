// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/err.h>
#include <linux/slab.h>

#include "chips/chips.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "decode/runlist.h"
#include "host/await.h"
#include "host/override_list.h"
#include "host/submit.h"
#include "state/override.h"

struct nvdebug_override *
nvdebug_override_make(struct nvdebug_gpu *gpu,
		      const struct nvdebug_runlist *runlist, const u32 *words,
		      u32 entries)
{
	struct nvdebug_override *list;
	int ret;

	lockdep_assert_held(&gpu->lock);
	list = kzalloc(sizeof(*list), GFP_KERNEL_ACCOUNT);
	if (!list)
		return ERR_PTR(-ENOMEM);
	list->memory =
		nvdebug_list_memory_alloc(gpu, words,
					  entries * gpu->chip->runlist->entry_words,
					  gpu->chip->submit->ptr);
	if (IS_ERR(list->memory)) {
		ret = PTR_ERR(list->memory);
		kfree(list);
		return ERR_PTR(ret);
	}
	INIT_LIST_HEAD(&list->node);
	list->number = gpu->overrides_made++;
	list->runlist = runlist;
	list->own.addr = list->memory->addr;
	list->own.aperture = list->memory->aperture;
	list->own.entries = entries;
	return list;
}

static void override_free(struct nvdebug_gpu *gpu,
			  struct nvdebug_override *list)
{
	list_del(&list->node);
	nvdebug_list_memory_free(gpu, list->memory);
	kfree(list);
}

/* Host has taken the list at @now: those of ours that are elsewhere can go. */
static void free_others(struct nvdebug_gpu *gpu,
			const struct nvdebug_runlist *runlist,
			const struct nvdebug_runlist_location *now)
{
	struct nvdebug_override *list, *next;

	list_for_each_entry_safe(list, next, &gpu->overrides, node)
		if (list->runlist == runlist &&
		    !nvdebug_runlist_location_same(&list->own, now))
			override_free(gpu, list);
}

/*
 * Was the list at @loc not submitted after all? Where a runlist has registers
 * of its own, they then have its address, and the length of the one before.
 */
static bool is_half(const struct nvdebug_runlist_location *loc,
		    const struct nvdebug_runlist_location *now)
{
	return loc->addr == now->addr && loc->aperture == now->aperture &&
	       loc->entries != now->entries;
}

/* How often, if a driver submits other lists through the same registers. */
#define PUT_BACK_TRIES	3

/* Submit the list at @loc again, whatever happens meanwhile. */
static int put_back(struct nvdebug_gpu *gpu,
		    const struct nvdebug_runlist *runlist,
		    const struct nvdebug_runlist_location *loc)
{
	struct nvdebug_runlist_location now;
	int submitted, ret, tries = 0;

	do {
		submitted = nvdebug_submit(gpu, runlist, loc);
		ret = submitted == -EBUSY ? 0 : submitted;
		if (!ret)
			ret = nvdebug_submit_settle_undo(gpu, runlist, &now);
		/* a list that a driver submitted meanwhile is as good */
		if (!ret && !nvdebug_runlist_location_same(&now, loc) &&
		    (is_half(loc, &now) || nvdebug_override_at(gpu, runlist, &now)))
			ret = -EIO;
	} while (ret == -EIO && submitted == -EBUSY && ++tries < PUT_BACK_TRIES);
	if (!ret)
		free_others(gpu, runlist, &now);
	else
		nvdebug_err_ratelimit(gpu, "the list of runlist %u did not go back (%d)\n",
				      runlist->id, ret);
	return ret;
}

int nvdebug_override_install(struct nvdebug_gpu *gpu,
			     struct nvdebug_override *list,
			     const struct nvdebug_runlist_location *now,
			     nvdebug_done_fn settled, const void *what)
{
	const struct nvdebug_runlist *runlist = list->runlist;
	struct nvdebug_runlist_location taken;
	int ret;

	list->original = *now;
	nvdebug_override_original(gpu, runlist, &list->original);
	ret = nvdebug_submit(gpu, runlist, &list->own);
	if (ret) {
		override_free(gpu, list);
		return ret;
	}
	list_add(&list->node, &gpu->overrides);

	ret = nvdebug_submit_settle(gpu, runlist, &taken);
	if (!ret && is_half(&list->own, &taken))
		ret = -EIO;
	if (!ret && nvdebug_override_at(gpu, runlist, &taken) != list) {
		/* the driver was faster, and what it wants is in force */
		free_others(gpu, runlist, &taken);
		return -EBUSY;
	}
	if (!ret)
		ret = nvdebug_await(gpu, settled, what);
	if (ret)
		put_back(gpu, runlist, now);
	else
		free_others(gpu, runlist, &taken);
	return ret;
}

int nvdebug_override_resubmit(struct nvdebug_gpu *gpu,
			      const struct nvdebug_runlist *runlist)
{
	struct nvdebug_runlist_location loc, now;
	int ret;

	ret = nvdebug_submit_settle(gpu, runlist, &loc);
	if (ret)
		return ret;
	nvdebug_override_original(gpu, runlist, &loc);
	ret = nvdebug_submit(gpu, runlist, &loc);
	if (!ret)
		ret = nvdebug_submit_settle(gpu, runlist, &now);
	if (!ret && is_half(&loc, &now)) {
		nvdebug_err_ratelimit(gpu, "the list of runlist %u did not go back (%d)\n",
				      runlist->id, -EIO);
		ret = -EIO;
	}
	if (!ret)
		free_others(gpu, runlist, &now);
	return ret;
}

/*
 * Put the driver's list back if @list is in force. @list is free afterwards if
 * that succeeds, or fails with -ENODEV. Returns as nvdebug_override_undo().
 */
static int retire(struct nvdebug_gpu *gpu, struct nvdebug_override *list)
{
	struct nvdebug_runlist_location now;
	bool in_force;
	int ret;

	ret = nvdebug_submit_settle_undo(gpu, list->runlist, &now);
	in_force = !ret && nvdebug_override_at(gpu, list->runlist, &now) == list;
	if (in_force)
		ret = put_back(gpu, list->runlist, &list->original);
	else if (!ret)
		override_free(gpu, list);
	/* what is not there reads no list */
	if (ret == -ENODEV)
		override_free(gpu, list);
	return ret ? ret : in_force;
}

int nvdebug_override_undo(struct nvdebug_gpu *gpu, u64 number)
{
	struct nvdebug_override *list;

	lockdep_assert_held(&gpu->lock);
	list_for_each_entry(list, &gpu->overrides, node)
		if (list->number == number)
			return retire(gpu, list);
	return 0;
}

void nvdebug_overrides_retire(struct nvdebug_gpu *gpu, bool awake)
{
	struct nvdebug_override *list;
	int ret;

	mutex_lock(&gpu->lock);
	while ((list = list_first_entry_or_null(&gpu->overrides,
						struct nvdebug_override, node))) {
		if (!awake) {
			override_free(gpu, list);
			continue;
		}
		ret = retire(gpu, list);
		if (ret < 0 && ret != -ENODEV) {
			nvdebug_err_ratelimit(gpu,
					      "%zu bytes of memory are left to runlist %u, which may still be read from there\n",
					      list->memory->bytes, list->runlist->id);
			nvdebug_list_memory_abandon(list->memory);
			list_del(&list->node);
			kfree(list);
		}
	}
	mutex_unlock(&gpu->lock);
}
