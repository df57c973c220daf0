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

/*
 * Return whether memory of @list is at @now. No other list is at that address.
 */
static bool override_is_at(const struct nvdebug_override *list,
			   const struct nvdebug_runlist_location *now)
{
	return list->own.addr == now->addr &&
	       list->own.aperture == now->aperture;
}

/* Host has taken the list at @now: free the other override lists. */
static void override_free_others(struct nvdebug_gpu *gpu,
				 const struct nvdebug_runlist *runlist,
				 const struct nvdebug_runlist_location *now)
{
	struct nvdebug_override *list, *next;

	list_for_each_entry_safe(list, next, &gpu->overrides, node)
		if (list->runlist == runlist && !override_is_at(list, now))
			override_free(gpu, list);
}

typedef int (*settle_fn)(struct nvdebug_gpu *gpu,
			 const struct nvdebug_runlist *runlist,
			 struct nvdebug_runlist_location *loc);

/*
 * Wait with @settle after the list at @loc was submitted in place of the list
 * at @was, and set @now to the list that Host has taken. The GPU's controls are
 * given up if the registers have the new address with the previous length,
 * because nobody has submitted such a list.
 */
static int override_settle(struct nvdebug_gpu *gpu,
			   const struct nvdebug_runlist *runlist,
			   const struct nvdebug_runlist_location *loc,
			   const struct nvdebug_runlist_location *was,
			   settle_fn settle,
			   struct nvdebug_runlist_location *now)
{
	int ret = settle(gpu, runlist, now);

	if (!ret && loc->entries != was->entries && loc->addr == now->addr &&
	    loc->aperture == now->aperture && was->entries == now->entries) {
		ret = -EIO;
		nvdebug_submit_give_up(gpu, runlist, ret);
	}
	return ret;
}

/* Attempts while a driver submits lists through the same registers. */
#define PUT_BACK_TRIES	3

/*
 * Submit the list at @loc in place of @list. If the driver has submitted
 * another list, that list stays. Not interruptible.
 */
static int override_restore_list(struct nvdebug_gpu *gpu,
				 const struct nvdebug_override *list,
				 const struct nvdebug_runlist_location *loc)
{
	const struct nvdebug_runlist *runlist = list->runlist;
	struct nvdebug_runlist_location was, now;
	int ret, tries = 0;

	do {
		/* Host need not have taken @list: it may be stuck. */
		ret = nvdebug_submit_locate(gpu, runlist, &now);
		if (!ret && now.pending && !override_is_at(list, &now))
			ret = nvdebug_submit_settle_undo(gpu, runlist, &now);
		if (ret || !override_is_at(list, &now))
			break;
		was = now;
		ret = nvdebug_submit(gpu, runlist, loc, &was);
		if (!ret)
			ret = override_settle(gpu, runlist, loc, &was,
					      nvdebug_submit_settle_undo, &now);
		if (!ret && override_is_at(list, &now))
			ret = -EIO;
	} while (ret == -EBUSY && ++tries < PUT_BACK_TRIES);
	if (!ret)
		override_free_others(gpu, runlist, &now);
	else
		nvdebug_err_ratelimit(gpu, "runlist %u: failed to restore the list (%d)\n",
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
	list_add(&list->node, &gpu->overrides);
	ret = nvdebug_submit(gpu, runlist, &list->own, now);
	if (ret) {
		/* The address of @list may have stayed in the registers. */
		if (!gpu->uncontrollable)
			override_free(gpu, list);
		return ret;
	}
	ret = override_settle(gpu, runlist, &list->own, now,
			      nvdebug_submit_settle, &taken);
	if (ret)
		goto err_restore;
	if (nvdebug_override_at(gpu, runlist, &taken) != list) {
		/*
		 * The driver has submitted a list in between. That list stays.
		 */
		override_free_others(gpu, runlist, &taken);
		return -EBUSY;
	}
	ret = nvdebug_await(gpu, settled, what);
	if (ret)
		goto err_restore;
	override_free_others(gpu, runlist, &taken);
	return 0;

err_restore:
	override_restore_list(gpu, list, now);
	return ret;
}

int nvdebug_override_resubmit(struct nvdebug_gpu *gpu,
			      const struct nvdebug_runlist *runlist)
{
	struct nvdebug_runlist_location was, loc, now;
	int ret;

	ret = nvdebug_submit_settle(gpu, runlist, &was);
	if (ret)
		return ret;
	loc = was;
	nvdebug_override_original(gpu, runlist, &loc);
	ret = nvdebug_submit(gpu, runlist, &loc, &was);
	if (ret)
		return ret;
	ret = override_settle(gpu, runlist, &loc, &was, nvdebug_submit_settle,
			      &now);
	if (ret)
		return ret;
	override_free_others(gpu, runlist, &now);
	return 0;
}

/*
 * Restore the driver's list if @list is current. Frees @list on success or
 * -ENODEV. Returns as nvdebug_override_undo().
 */
static int override_retire(struct nvdebug_gpu *gpu,
			   struct nvdebug_override *list)
{
	struct nvdebug_runlist_location now;
	bool in_force;
	int ret;

	ret = nvdebug_submit_settle_undo(gpu, list->runlist, &now);
	in_force = !ret && override_is_at(list, &now);
	if (in_force)
		ret = override_restore_list(gpu, list, &list->original);
	else if (!ret)
		override_free(gpu, list);
	/* A GPU that is gone reads no list. */
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
			return override_retire(gpu, list);
	return 0;
}

bool nvdebug_overrides_exist(struct nvdebug_gpu *gpu)
{
	bool exist;

	mutex_lock(&gpu->lock);
	exist = !list_empty(&gpu->overrides);
	mutex_unlock(&gpu->lock);
	return exist;
}

void nvdebug_overrides_retire(struct nvdebug_gpu *gpu, int error)
{
	struct nvdebug_override *list;
	int ret;

	mutex_lock(&gpu->lock);
	while ((list = list_first_entry_or_null(&gpu->overrides,
						struct nvdebug_override, node))) {
		if (error == -ENODEV) {
			override_free(gpu, list);
			continue;
		}
		ret = error ? error : override_retire(gpu, list);
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
