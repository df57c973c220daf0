// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/dma-map-ops.h>
#include <linux/highmem.h>
#include <linux/iommu.h>
#include <linux/ioport.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/memory_hotplug.h>
#include <linux/page-flags.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#ifdef CONFIG_X86
#include <asm/cacheflush.h>
#endif

#include "access/device.h"
#include "access/lockdown.h"
#include "access/sysmem.h"
#include "chips/chips.h"
#include "compat/compat.h"
#include "hw/ram.h"

/* A lookup in the IOMMU domain of the GPU's device. */
struct domain_visit {
	struct device *dev;
	bool translated;	/* the domain is not an identity mapping */
	u64 iova;
	phys_addr_t phys;	/* address of iova, 0: not mapped */
};

/* Look up iova. iommu_iova_to_phys() fails on 5.10 for an identity domain. */
static int visit_domain(struct device *dev, void *data)
{
	struct domain_visit *visit = data;
	struct iommu_domain *domain;

	if (dev != visit->dev)
		return 0;
	domain = iommu_driver_get_domain_for_dev(dev);
	if (!domain || domain->type == IOMMU_DOMAIN_IDENTITY)
		return 1;
	visit->translated = true;
	visit->phys = iommu_iova_to_phys(domain, visit->iova);
	return 1;
}

/*
 * The domain may be detached and freed at any time, by a driver change, VFIO or
 * sysfs. All of these take the group's lock, which iommu_group_for_each_dev()
 * holds.
 */
static void sysmem_translate(struct nvdebug_gpu *gpu,
			     struct domain_visit *visit)
{
	struct iommu_group *group = iommu_group_get(nvdebug_device(gpu)->dev);

	visit->dev = nvdebug_device(gpu)->dev;
	if (!group)
		return;
	iommu_group_for_each_dev(group, visit, visit_domain);
	iommu_group_put(group);
}

int nvdebug_sysmem_phys(struct nvdebug_gpu *gpu, u64 bus, phys_addr_t *phys)
{
	const struct nvdebug_memory_ops *ops = gpu->chip->memory;
	struct domain_visit visit = { .iova = bus & ~ops->flag };

	if (bus & ops->flag ? ops->flagged_is_translated :
			      ops->unflagged_is_translated)
		sysmem_translate(gpu, &visit);
	*phys = visit.translated ? visit.phys : visit.iova;
	return visit.translated && !visit.phys ? -EFAULT : 0;
}

int nvdebug_sysmem_address(struct nvdebug_gpu *gpu, u64 dma, u64 *address)
{
	const struct nvdebug_memory_ops *ops = gpu->chip->memory;
	struct domain_visit visit = { .iova = dma };

	sysmem_translate(gpu, &visit);
	if (!visit.translated || ops->unflagged_is_translated)
		*address = dma;
	else if (ops->flagged_is_translated)
		*address = dma | ops->flag;
	else
		return -EOPNOTSUPP;
	return 0;
}

/*
 * An IOMMU may map each 4 KiB of bus addresses to another place, also where
 * pages of the CPU are larger.
 */
#define PIECE	SZ_4K

static u32 offset_in_piece(u64 addr)
{
	return addr & (PIECE - 1);
}

/*
 * Return the page at the bus address @bus, or NULL, and set *@offset to the
 * piece's place in it. It must be RAM in use: elsewhere a read may have side
 * effects. Pages whose memory failed, or which a balloon or hotplug driver has
 * given away, are left out as well, because reading them may be a machine check.
 */
static struct page *sysmem_page(struct nvdebug_gpu *gpu, u64 bus, u32 *offset)
{
	struct page *page;
	phys_addr_t phys;

	if (nvdebug_sysmem_phys(gpu, bus, &phys) ||
	    region_intersects(phys & PAGE_MASK, PAGE_SIZE,
			      IORESOURCE_SYSTEM_RAM,
			      IORES_DESC_NONE) != REGION_INTERSECTS)
		return NULL;
	page = pfn_to_online_page(PHYS_PFN(phys));
	if (!page || PageOffline(page) || PageHWPoison(page) ||
	    PageHWPoison(compound_head(page)))
		return NULL;
	*offset = offset_in_page(phys) - offset_in_piece(phys);
	return page;
}

/*
 * Map the page as the GPU sees it: uncached if the GPU's accesses are not
 * coherent, as drivers do.
 */
static void *sysmem_map_page(struct nvdebug_gpu *gpu, struct page *page)
{
	if (dev_is_dma_coherent(nvdebug_device(gpu)->dev))
		return kmap_local_page(page);
	return vmap(&page, 1, VM_MAP, pgprot_dmacoherent(PAGE_KERNEL));
}

static void sysmem_unmap_page(struct nvdebug_gpu *gpu, void *map)
{
	if (dev_is_dma_coherent(nvdebug_device(gpu)->dev))
		kunmap_local(map);
	else
		vunmap(map);
}

/* Read words of @page. The direct map may lack the page: a fault is caught. */
static int sysmem_read_page(struct nvdebug_gpu *gpu, struct page *page,
			    u32 offset, u32 *buf, size_t bytes)
{
	void *map = sysmem_map_page(gpu, page);
	int ret;

	if (!map)
		return -ENOMEM;
	ret = copy_from_kernel_nofault(buf, map + offset, bytes);
	sysmem_unmap_page(gpu, map);
	return ret ? -EFAULT : 0;
}

int nvdebug_sysmem_read_any(struct nvdebug_gpu *gpu, u64 bus, u32 *buf,
			    size_t words)
{
	size_t bytes = words * sizeof(u32);
	size_t done, n, i;
	struct page *page;
	int ret;

	if (bus + bytes < bus)
		return -EFAULT;

	for (done = 0; done < bytes; done += n) {
		u32 in_piece = offset_in_piece(bus + done), offset;

		n = min_t(size_t, bytes - done, PIECE - in_piece);
		page = sysmem_page(gpu, bus + done, &offset);
		if (!page)
			return -EFAULT;
		ret = sysmem_read_page(gpu, page, offset + in_piece,
				       buf + done / sizeof(u32), n);
		if (ret)
			return ret;
		cond_resched();
	}
	for (i = 0; i < words; i++)
		le32_to_cpus(&buf[i]);
	return 0;
}

/*
 * Return whether the range is within a list of the module's own, and the list
 * is still at the address where it was allocated.
 */
static bool sysmem_is_own(struct nvdebug_gpu *gpu, u64 bus, size_t bytes)
{
	struct nvdebug_device *device = nvdebug_device(gpu);
	struct nvdebug_own_memory *own;
	phys_addr_t was = 0, phys;
	bool found = false;
	u64 addr = 0;

	spin_lock(&device->own_lock);
	list_for_each_entry(own, &device->own, node) {
		if (bus < own->addr || bus - own->addr > own->bytes ||
		    bytes > own->bytes - (bus - own->addr))
			continue;
		addr = own->addr;
		was = own->phys;
		found = true;
		break;
	}
	spin_unlock(&device->own_lock);
	return found && !nvdebug_sysmem_phys(gpu, addr, &phys) && phys == was;
}

/*
 * Check that the memory may be read. An address that comes from the GPU gives
 * no right to its contents. While a driver is bound, its registers and tables
 * lead to memory of that driver. Afterwards somebody else may own that memory.
 */
static int sysmem_check_allowed(const struct nvdebug_mem *mem, u64 bus,
				size_t bytes)
{
	if (sysmem_is_own(mem->gpu, bus, bytes))
		return 0;
	if (!READ_ONCE(nvdebug_device(mem->gpu)->driver))
		return -EOPNOTSUPP;
	if (!mem->restoring && nvdebug_locked_down(LOCKDOWN_KCORE))
		return -EOPNOTSUPP;
	return 0;
}

int nvdebug_sysmem_read(const struct nvdebug_mem *mem, u64 bus, u32 *buf,
			size_t words)
{
	int ret = sysmem_check_allowed(mem, bus, words * sizeof(u32));

	return ret ? ret : nvdebug_sysmem_read_any(mem->gpu, bus, buf, words);
}

/* Return whether memory can be written that the GPU reads without snooping. */
static bool cache_can_write_back(struct nvdebug_gpu *gpu)
{
	return IS_ENABLED(CONFIG_X86) || !dev_is_dma_coherent(nvdebug_device(gpu)->dev);
}

static void cache_write_back(void *word)
{
#ifdef CONFIG_X86
	clflush_cache_range(word, sizeof(u32));
#endif
}

/* Compare the word at @addr, in @piece. The read may fault. */
static int sysmem_check_word(const void *piece, u64 addr, u32 expected)
{
	u32 wanted = (__force u32)cpu_to_le32(expected);
	u32 found;

	__get_kernel_nofault(&found, piece + offset_in_piece(addr), u32, fault);
	return found == wanted ? 0 : -EBUSY;
fault:
	return -EFAULT;
}

static int sysmem_store_word(void *piece, u64 addr, u32 value)
{
	u32 stored = (__force u32)cpu_to_le32(value);

	__put_kernel_nofault(piece + offset_in_piece(addr), &stored, u32, fault);
	return 0;
fault:
	return -EFAULT;
}

/*
 * Compare and write with interrupts off. cmpxchg() is not used, because it
 * cannot catch a fault on a kernel address: read-only kernel text is RAM, too.
 */
static int sysmem_replace_word(void *piece,
			       const struct nvdebug_mem_change *change)
{
	unsigned long flags;
	int ret = 0;
	u32 i;

	pagefault_disable();
	local_irq_save(flags);
	for (i = 0; !ret && i < change->guards; i++)
		ret = sysmem_check_word(piece, change->guard[i].addr,
					change->guard[i].value);
	if (!ret)
		ret = sysmem_check_word(piece, change->addr, change->expected);
	if (!ret)
		ret = sysmem_store_word(piece, change->addr, change->value);
	local_irq_restore(flags);
	pagefault_enable();
	return ret;
}

int nvdebug_sysmem_write(const struct nvdebug_mem *mem,
			 const struct nvdebug_mem_change *change)
{
	bool coherent = change->aperture == NV_APERTURE_COH;
	struct nvdebug_gpu *gpu = mem->gpu;
	u32 word, offset;
	struct page *page;
	void *map;
	int ret;

	ret = sysmem_check_allowed(mem, change->addr, sizeof(u32));
	if (ret)
		return ret;
	page = sysmem_page(gpu, change->addr, &offset);
	if (!page)
		return -EFAULT;
	if (!coherent && !cache_can_write_back(gpu))
		return -EOPNOTSUPP;

	map = sysmem_map_page(gpu, page);
	if (!map)
		return -ENOMEM;
	ret = sysmem_replace_word(map + offset, change);
	if (!ret && !coherent)
		cache_write_back(map + offset + offset_in_piece(change->addr));
	/*
	 * The word is visible before the register write that makes the GPU read
	 * it.
	 */
	wmb();
	sysmem_unmap_page(gpu, map);
	if (ret)
		return ret;
	ret = nvdebug_sysmem_read_any(gpu, change->addr, &word, 1);
	if (ret)
		return ret;
	return word == change->value ? 0 : -EIO;
}
