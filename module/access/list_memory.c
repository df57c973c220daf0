// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Memory of override lists: DMA memory of the GPU's device, with bus mastering
 * on while any is allocated.
 */
#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "access/bus.h"
#include "access/device.h"
#include "access/sysmem.h"
#include "chips/chips.h"
#include "core/machine.h"

struct dma_list {
	struct nvdebug_list_memory base;
	__le32 *words;
	dma_addr_t dma;
	struct nvdebug_device *device;
	struct nvdebug_own_memory own;
};

static int dma_list_alloc(struct nvdebug_device *device, struct dma_list *list)
{
	struct device *dev = device->dev;
	int ret = -EOPNOTSUPP;

	/* Binding or unbinding a driver may change the IOMMU domain. */
	if (!device_trylock(dev))
		return -EBUSY;
	/*
	 * A user space driver owns the IOMMU domain, so the DMA API is not
	 * used.
	 */
	if (!nvdebug_device_is_assigned(device)) {
		list->words = dma_alloc_coherent(dev, list->base.bytes,
						 &list->dma, GFP_KERNEL);
		ret = list->words ? 0 : -ENOMEM;
	}
	device_unlock(dev);
	return ret;
}

static void dma_list_free_words(struct nvdebug_device *device,
				struct dma_list *list)
{
	dma_free_coherent(device->dev, list->base.bytes, list->words,
			  list->dma);
}

/*
 * Check that the GPU's address leads to the list. If the device never had a
 * driver, the DMA API may not use its IOMMU yet, or the other way round.
 */
static int dma_list_check_address(struct nvdebug_gpu *gpu,
				  struct dma_list *list, const u32 *words,
				  u32 n)
{
	u32 *found = kvmalloc_array(n, sizeof(u32), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!found)
		return -ENOMEM;
	ret = nvdebug_sysmem_phys(gpu, list->base.addr, &list->own.phys);
	if (ret)
		goto out;
	ret = nvdebug_sysmem_read_any(gpu, list->base.addr, found, n);
	if (ret)
		goto out;
	if (memcmp(found, words, n * sizeof(u32)))
		ret = -EFAULT;
out:
	kvfree(found);
	return ret == -EFAULT ? -EOPNOTSUPP : ret;
}

struct nvdebug_list_memory *
nvdebug_list_memory_alloc(struct nvdebug_gpu *gpu, const u32 *words, u32 count,
			  u64 reach)
{
	struct nvdebug_device *device = nvdebug_device(gpu);
	struct dma_list *list;
	u32 i;
	int ret;

	lockdep_assert_held(&gpu->lock);
	list = kzalloc(sizeof(*list), GFP_KERNEL_ACCOUNT);
	if (!list)
		return ERR_PTR(-ENOMEM);
	/* Whole pages are page aligned, as lists must be. */
	list->base.bytes = PAGE_ALIGN(count * sizeof(u32));
	list->base.aperture = gpu->chip->memory->list_aperture;
	ret = dma_list_alloc(device, list);
	if (ret)
		goto err_free;
	for (i = 0; i < count; i++)
		list->words[i] = cpu_to_le32(words[i]);
	ret = nvdebug_sysmem_address(gpu, list->dma, &list->base.addr);
	if (ret)
		goto err_free_words;
	ret = -EOPNOTSUPP;
	if (list->base.addr & ~reach)
		goto err_free_words;
	ret = dma_list_check_address(gpu, list, words, count);
	if (ret)
		goto err_free_words;

	list->device = device;
	list->own.addr = list->base.addr;
	list->own.bytes = list->base.bytes;
	spin_lock(&device->own_lock);
	list_add(&list->own.node, &device->own);
	spin_unlock(&device->own_lock);
	if (device->bus->start_dma(device))
		device->started_dma = true;
	device->lists++;
	return &list->base;

err_free_words:
	dma_list_free_words(device, list);
err_free:
	kfree(list);
	return ERR_PTR(ret);
}

/* Forget the memory: the module may not read it any more. */
static void dma_list_disown(struct dma_list *list)
{
	spin_lock(&list->device->own_lock);
	list_del(&list->own.node);
	spin_unlock(&list->device->own_lock);
}

void nvdebug_list_memory_free(struct nvdebug_gpu *gpu,
			      struct nvdebug_list_memory *memory)
{
	struct dma_list *list = container_of(memory, struct dma_list, base);
	struct nvdebug_device *device = nvdebug_device(gpu);
	phys_addr_t phys;

	lockdep_assert_held(&gpu->lock);
	dma_list_disown(list);
	/* DMA stops before the memory is freed, in case Host still reads it. */
	if (!--device->lists && device->started_dma) {
		device->started_dma = false;
		device->bus->stop_dma(device);
	}
	/*
	 * Under another IOMMU domain the address is not mapped: unmapping it
	 * through the DMA API would be a bug.
	 */
	if (!nvdebug_sysmem_phys(gpu, list->base.addr, &phys) &&
	    phys == list->own.phys)
		dma_list_free_words(device, list);
	else
		nvdebug_err_ratelimit(gpu,
				      "%zu bytes of memory are lost: the GPU's addresses changed under a runlist, or a reset blocks them\n",
				      list->base.bytes);
	kfree(list);
}

void nvdebug_list_memory_abandon(struct nvdebug_list_memory *memory)
{
	struct dma_list *list = container_of(memory, struct dma_list, base);

	dma_list_disown(list);
	kfree(list);
}
