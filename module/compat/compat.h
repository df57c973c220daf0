/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The one place where kernels differ. It makes functions of newer kernels from
 * the functions of older ones, under the newer name where there is one.
 * Compiling probes.c shows which functions a kernel has; its version is not
 * asked.
 */
#ifndef NVDEBUG_COMPAT_H
#define NVDEBUG_COMPAT_H

#include <linux/highmem.h>
#include <linux/iommu.h>
#include <linux/pci.h>
#include <linux/proc_fs.h>
#include <linux/string.h>

#include "compat_probed.h"

/* Linux 5.17 renamed PDE_DATA(). */
#ifndef NVDEBUG_HAVE_PDE_DATA
static inline void *pde_data(const struct inode *inode)
{
	return PDE_DATA(inode);
}
#endif

/* Linux 5.11 introduced kmap_local_page(). */
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
 * True if the driver lets user space manage the device's DMA. @drv is a struct
 * pci_driver or platform_driver. The member exists from 5.19 on; before, the
 * driver is recognised by its name.
 */
#ifdef NVDEBUG_HAVE_DRIVER_MANAGED_DMA
#define nvdebug_driver_managed_dma(drv)	((drv)->driver_managed_dma)
#else
#define nvdebug_driver_managed_dma(drv)	strstarts((drv)->driver.name, "vfio-")
#endif

/*
 * Linux 7.0 introduced this function. Before, iommu_get_domain_for_dev() also
 * served holders of the group's lock.
 */
#ifndef NVDEBUG_HAVE_IOMMU_DRIVER_GET_DOMAIN
static inline struct iommu_domain *
iommu_driver_get_domain_for_dev(struct device *dev)
{
	return iommu_get_domain_for_dev(dev);
}
#endif

/* From 6.10 on __assign_str() takes the source from __string(). */
#ifdef NVDEBUG_HAVE_ASSIGN_STR_OF_ONE
#define nvdebug_assign_str(dst, src)	__assign_str(dst)
#else
#define nvdebug_assign_str(dst, src)	__assign_str(dst, src)
#endif

#endif
