/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The one place that knows how kernels differ: what newer ones have, made of
 * what older ones have, under the newer one's name where it has one. What a
 * kernel has is found out by compiling probes.c, not by its version.
 */
#ifndef NVDEBUG_COMPAT_H
#define NVDEBUG_COMPAT_H

#include <linux/highmem.h>
#include <linux/iommu.h>
#include <linux/pci.h>
#include <linux/proc_fs.h>
#include <linux/string.h>

#include "compat_probed.h"

/* Before 5.17 */
#ifndef NVDEBUG_HAVE_PDE_DATA
static inline void *pde_data(const struct inode *inode)
{
	return PDE_DATA(inode);
}
#endif

/* Before 5.11 */
#ifndef NVDEBUG_HAVE_KMAP_LOCAL
static inline void *kmap_local_page(struct page *page)
{
	return kmap(page);
}

static inline void kunmap_local(void *map)
{
	kunmap(kmap_to_page((void *)((unsigned long)map & PAGE_MASK)));
}
#endif

/*
 * Does the driver let user space manage the device's DMA? @drv is a struct
 * pci_driver or platform_driver; before 5.19 it is recognised by its name.
 */
#ifdef NVDEBUG_HAVE_DRIVER_MANAGED_DMA
#define nvdebug_driver_managed_dma(drv)	((drv)->driver_managed_dma)
#else
#define nvdebug_driver_managed_dma(drv)	strstarts((drv)->driver.name, "vfio-")
#endif

/* Before 7.0 the other function was for holders of the group's lock, too. */
#ifndef NVDEBUG_HAVE_IOMMU_DRIVER_GET_DOMAIN
static inline struct iommu_domain *
iommu_driver_get_domain_for_dev(struct device *dev)
{
	return iommu_get_domain_for_dev(dev);
}
#endif

/* From 6.10 on the source is what __string() was given. */
#ifdef NVDEBUG_HAVE_ASSIGN_STR_OF_ONE
#define nvdebug_assign_str(dst, src)	__assign_str(dst)
#else
#define nvdebug_assign_str(dst, src)	__assign_str(dst, src)
#endif

#endif
