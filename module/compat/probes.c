// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Compile tests of functions that not all kernels from 5.10 on have. A part
 * that compiles with PROBE_name gives NVDEBUG_HAVE_name, which is for compat.h
 * alone. With no PROBE this file must compile everywhere, which shows that the
 * tests can be trusted.
 */
#include <linux/highmem.h>
#include <linux/iommu.h>
#include <linux/kernel.h>
#include <linux/pci.h>
#include <linux/proc_fs.h>

#ifdef PROBE_PDE_DATA
static inline void *probe(const struct inode *inode)
{
	return pde_data(inode);
}
#endif

#ifdef PROBE_KMAP_LOCAL
static inline void probe(struct page *page)
{
	kunmap_local(kmap_local_page(page));
}
#endif

#ifdef PROBE_DRIVER_MANAGED_DMA
static inline bool probe(const struct pci_driver *driver)
{
	return driver->driver_managed_dma;
}
#endif

#ifdef PROBE_IOMMU_DRIVER_GET_DOMAIN
static inline struct iommu_domain *probe(struct device *dev)
{
	return iommu_driver_get_domain_for_dev(dev);
}
#endif

#ifdef PROBE_ASSIGN_STR_OF_ONE
#include <trace/stages/stage6_event_callback.h>
#define TEXT(...)	#__VA_ARGS__
#define EXPANDED(...)	TEXT(__VA_ARGS__)
static const char probe[] __maybe_unused = EXPANDED(__assign_str(dst));
#endif

/* The test module tests/module/test_modules/iommuremap.c needs this one. */
#ifdef PROBE_IOMMU_MAP_GFP
static inline int probe(struct iommu_domain *domain, phys_addr_t phys)
{
	return iommu_map(domain, 0, phys, PAGE_SIZE, IOMMU_READ, GFP_KERNEL);
}
#endif
