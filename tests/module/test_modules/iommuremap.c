// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Moves a GPU's data in system memory to another place, and maps it only in the
 * IOMMU: at the old addresses the GPU's domain finds copies, and nothing is
 * left in the old place. A reader that translates the GPU's addresses sees no
 * difference; one that takes them for physical addresses reads zeros.
 */
#include <linux/iommu.h>
#include <linux/module.h>
#include <linux/pci.h>

#include "compat/compat.h"

static unsigned int slot;
module_param(slot, uint, 0444);
MODULE_PARM_DESC(slot, "The GPU's device number on bus 0");
static unsigned long start;
module_param(start, ulong, 0444);
MODULE_PARM_DESC(start, "Where its memory begins");
static unsigned int order;
module_param(order, uint, 0444);
MODULE_PARM_DESC(order, "log2 of its number of pages");

static struct pci_dev *pdev;
static struct iommu_domain *domain;
static struct page *copy;

/* From 6.3 on, iommu_map() has a parameter of allocation flags. */
static int map(struct iommu_domain *domain,
	       unsigned long iova, phys_addr_t phys, size_t size, int prot)
{
#ifdef NVDEBUG_HAVE_IOMMU_MAP_GFP
	return iommu_map(domain, iova, phys, size, prot, GFP_KERNEL);
#else
	return iommu_map(domain, iova, phys, size, prot);
#endif
}

static int __init iommuremap_init(void)
{
	size_t size = PAGE_SIZE << order;
	int ret;

	pdev = pci_get_domain_bus_and_slot(0, 0, PCI_DEVFN(slot, 0));
	domain = pdev ? iommu_get_domain_for_dev(&pdev->dev) : NULL;
	copy = alloc_pages(GFP_KERNEL, order);
	ret = !domain ? -ENODEV : !copy ? -ENOMEM : 0;
	if (!ret)
		ret = map(domain, start, page_to_phys(copy), size, IOMMU_READ);
	if (ret) {
		if (copy)
			__free_pages(copy, order);
		pci_dev_put(pdev);
		return ret;
	}
	memcpy(page_address(copy), phys_to_virt(start), size);
	memset(phys_to_virt(start), 0, size);
	return 0;
}

static void __exit iommuremap_exit(void)
{
	size_t size = PAGE_SIZE << order;

	memcpy(phys_to_virt(start), page_address(copy), size);
	iommu_unmap(domain, start, size);
	__free_pages(copy, order);
	pci_dev_put(pdev);
}

module_init(iommuremap_init);
module_exit(iommuremap_exit);
MODULE_DESCRIPTION("Moves a GPU's system memory behind its IOMMU, for a test");
MODULE_LICENSE("Dual MIT/GPL");
