// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/slab.h>

#include "access/report.h"
#include "access/sysmem.h"
#include "chips/chips.h"
#include "core/gpu.h"
#include "decode/submit.h"
#include "gpus/bus.h"
#include "host/await.h"
#include "host/own_list.h"
#include "host/submit.h"
#include "hw/ram.h"

struct nvdebug_own_list {
	struct list_head node;	/* in gpu->own_lists, from when it is submitted */
	u64 number;
	const struct nvdebug_runlist *runlist;
	struct nvdebug_runlist_location own;
	struct nvdebug_runlist_location original;	/* the driver's */
	__le32 *words;
	size_t bytes;
	dma_addr_t dma;
	phys_addr_t phys;	/* what own.addr led to when it was made */
};

/* The GPU reads system memory for as long as there is a list of ours. */
static void dma_get(struct nvdebug_gpu *gpu)
{
	if (gpu->bus->start_dma(gpu))
		gpu->started_dma = true;
}

static void dma_put(struct nvdebug_gpu *gpu)
{
	if (!gpu->started_dma || !list_empty(&gpu->own_lists))
		return;
	gpu->started_dma = false;
	gpu->bus->stop_dma(gpu);
}

static int allocate(struct nvdebug_gpu *gpu, struct nvdebug_own_list *list)
{
	struct device *dev = gpu->dev;
	int ret = -EOPNOTSUPP;

	/* a driver that is bound or unbound changes what addresses mean */
	if (!device_trylock(dev))
		return -EBUSY;
	/* a driver of user space maps for the GPU what it likes; we cannot */
	if (!gpu->bus->is_user_space(gpu)) {
		list->words = dma_alloc_coherent(dev, list->bytes, &list->dma,
						 GFP_KERNEL);
		ret = list->words ? 0 : -ENOMEM;
	}
	device_unlock(dev);
	return ret;
}

/*
 * Does the address that the GPU is told lead to the list? Where the device has
 * never had a driver, the DMA API may not know yet of an IOMMU, and the other
 * way round.
 */
static int check_address(struct nvdebug_gpu *gpu, struct nvdebug_own_list *list,
			 const u32 *words, u32 n)
{
	u32 *found = kvmalloc_array(n, sizeof(u32), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!found)
		return -ENOMEM;
	ret = nvdebug_sysmem_phys(gpu, list->own.addr, &list->phys);
	if (!ret)
		ret = nvdebug_sysmem_read(gpu, list->own.addr, found, n);
	if (!ret && memcmp(found, words, n * sizeof(u32)))
		ret = -EFAULT;
	kvfree(found);
	return ret == -EFAULT ? -EOPNOTSUPP : ret;
}

static void give_back(struct nvdebug_gpu *gpu, struct nvdebug_own_list *list)
{
	dma_free_coherent(gpu->dev, list->bytes, list->words, list->dma);
}

struct nvdebug_own_list *
nvdebug_own_list_make(struct nvdebug_gpu *gpu,
		      const struct nvdebug_runlist *runlist, const u32 *words,
		      u32 entries)
{
	const struct nvdebug_submit_ops *ops = gpu->chip->submit;
	u32 n = entries * gpu->chip->runlist->entry_words;
	u32 word[NVDEBUG_SUBMIT_WORDS];
	struct nvdebug_own_list *list;
	u32 i;
	int ret;

	lockdep_assert_held(&gpu->lock);
	list = kzalloc(sizeof(*list), GFP_KERNEL_ACCOUNT);
	if (!list)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&list->node);
	list->number = gpu->own_lists_made++;
	list->runlist = runlist;
	/* whole pages, which is how it comes to be aligned to one */
	list->bytes = PAGE_ALIGN(n * sizeof(u32));
	ret = allocate(gpu, list);
	if (ret) {
		kfree(list);
		return ERR_PTR(ret);
	}
	list->own.aperture = gpu->chip->memory->own;
	list->own.entries = entries;
	for (i = 0; i < n; i++)
		list->words[i] = cpu_to_le32(words[i]);
	ret = nvdebug_sysmem_address(gpu, list->dma, &list->own.addr);
	if (!ret && ops->encode(&list->own, runlist->id, ops->ptr, word) < 0)
		ret = -EOPNOTSUPP;
	if (!ret)
		ret = check_address(gpu, list, words, n);
	if (ret) {
		give_back(gpu, list);
		kfree(list);
		return ERR_PTR(ret);
	}
	dma_get(gpu);
	return list;
}

u64 nvdebug_own_list_number(const struct nvdebug_own_list *list)
{
	return list->number;
}

void nvdebug_own_list_free(struct nvdebug_gpu *gpu,
			   struct nvdebug_own_list *list)
{
	phys_addr_t phys;

	list_del(&list->node);
	/*
	 * Another domain of the IOMMU has nothing there, and taking nothing
	 * from it is a mistake that the DMA API does not forgive.
	 */
	if (!nvdebug_sysmem_phys(gpu, list->own.addr, &phys) &&
	    phys == list->phys)
		give_back(gpu, list);
	else
		nvdebug_complain(gpu,
				 "%zu bytes of memory are lost: the GPU's addresses changed under a runlist\n",
				 list->bytes);
	kfree(list);
	dma_put(gpu);
}

/* The list of ours that is at @loc, or NULL. */
static struct nvdebug_own_list *
list_at(struct nvdebug_gpu *gpu, const struct nvdebug_runlist *runlist,
	const struct nvdebug_runlist_location *loc)
{
	struct nvdebug_own_list *list;

	lockdep_assert_held(&gpu->lock);
	list_for_each_entry(list, &gpu->own_lists, node)
		if (list->runlist == runlist &&
		    nvdebug_runlist_location_same(&list->own, loc))
			return list;
	return NULL;
}

void nvdebug_own_list_look_beneath(struct nvdebug_gpu *gpu,
				   const struct nvdebug_runlist *runlist,
				   struct nvdebug_runlist_location *loc)
{
	const struct nvdebug_own_list *list = list_at(gpu, runlist, loc);

	if (list)
		*loc = list->original;
}

/* Host has taken the list at @now: those of ours that are elsewhere can go. */
static void free_others(struct nvdebug_gpu *gpu,
			const struct nvdebug_runlist *runlist,
			const struct nvdebug_runlist_location *now)
{
	struct nvdebug_own_list *list, *next;

	list_for_each_entry_safe(list, next, &gpu->own_lists, node)
		if (list->runlist == runlist &&
		    !nvdebug_runlist_location_same(&list->own, now))
			nvdebug_own_list_free(gpu, list);
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
		    (is_half(loc, &now) || list_at(gpu, runlist, &now)))
			ret = -EIO;
	} while (ret == -EIO && submitted == -EBUSY && ++tries < PUT_BACK_TRIES);
	if (!ret)
		free_others(gpu, runlist, &now);
	else
		nvdebug_complain(gpu, "the list of runlist %u did not go back (%d)\n",
				 runlist->id, ret);
	return ret;
}

int nvdebug_own_list_enforce(struct nvdebug_gpu *gpu,
			     struct nvdebug_own_list *list,
			     const struct nvdebug_runlist_location *now,
			     nvdebug_done_fn settled, const void *what)
{
	const struct nvdebug_runlist *runlist = list->runlist;
	struct nvdebug_runlist_location taken;
	int ret;

	list->original = *now;
	nvdebug_own_list_look_beneath(gpu, runlist, &list->original);
	ret = nvdebug_submit(gpu, runlist, &list->own);
	if (ret) {
		nvdebug_own_list_free(gpu, list);
		return ret;
	}
	list_add(&list->node, &gpu->own_lists);

	ret = nvdebug_submit_settle(gpu, runlist, &taken);
	if (!ret && is_half(&list->own, &taken))
		ret = -EIO;
	if (!ret && list_at(gpu, runlist, &taken) != list) {
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

int nvdebug_own_list_resubmit(struct nvdebug_gpu *gpu,
			      const struct nvdebug_runlist *runlist)
{
	struct nvdebug_runlist_location loc, now;
	int ret;

	ret = nvdebug_submit_settle(gpu, runlist, &loc);
	if (ret)
		return ret;
	nvdebug_own_list_look_beneath(gpu, runlist, &loc);
	ret = nvdebug_submit(gpu, runlist, &loc);
	if (!ret)
		ret = nvdebug_submit_settle(gpu, runlist, &now);
	if (!ret && is_half(&loc, &now)) {
		nvdebug_complain(gpu, "the list of runlist %u did not go back (%d)\n",
				 runlist->id, -EIO);
		ret = -EIO;
	}
	if (!ret)
		free_others(gpu, runlist, &now);
	return ret;
}

/*
 * Put the driver's list back if @list is in force. @list is free afterwards if
 * that succeeds, or fails with -ENODEV. Returns as nvdebug_own_list_undo().
 */
static int retire(struct nvdebug_gpu *gpu, struct nvdebug_own_list *list)
{
	struct nvdebug_runlist_location now;
	bool in_force;
	int ret;

	ret = nvdebug_submit_settle_undo(gpu, list->runlist, &now);
	in_force = !ret && list_at(gpu, list->runlist, &now) == list;
	if (in_force)
		ret = put_back(gpu, list->runlist, &list->original);
	else if (!ret)
		nvdebug_own_list_free(gpu, list);
	/* what is not there reads no list */
	if (ret == -ENODEV)
		nvdebug_own_list_free(gpu, list);
	return ret ? ret : in_force;
}

int nvdebug_own_list_undo(struct nvdebug_gpu *gpu, u64 number)
{
	struct nvdebug_own_list *list;

	lockdep_assert_held(&gpu->lock);
	list_for_each_entry(list, &gpu->own_lists, node)
		if (list->number == number)
			return retire(gpu, list);
	return 0;
}

void nvdebug_own_lists_retire(struct nvdebug_gpu *gpu, bool awake)
{
	struct nvdebug_own_list *list;
	int ret;

	mutex_lock(&gpu->lock);
	while ((list = list_first_entry_or_null(&gpu->own_lists,
						struct nvdebug_own_list, node))) {
		if (!awake) {
			nvdebug_own_list_free(gpu, list);
			continue;
		}
		ret = retire(gpu, list);
		if (ret < 0 && ret != -ENODEV) {
			nvdebug_complain(gpu,
					 "%zu bytes of memory are left to runlist %u, which may still be read from there\n",
					 list->bytes, list->runlist->id);
			list_del_init(&list->node);
			kfree(list);
		}
	}
	mutex_unlock(&gpu->lock);
}
