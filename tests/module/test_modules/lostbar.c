// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Clears a resource of a PCI device as long as it is loaded. Linux does the
 * same to a BAR that it has no address space for (reset_resource() of
 * drivers/pci/setup-bus.c). With "left" the resource only becomes smaller, as
 * after a write to resourceN_resize.
 */
#include <linux/ioport.h>
#include <linux/module.h>
#include <linux/pci.h>

static unsigned int slot;
module_param(slot, uint, 0444);
MODULE_PARM_DESC(slot, "The device's number on bus 0");
static unsigned int resource;
module_param(resource, uint, 0444);
MODULE_PARM_DESC(resource, "The number of the resource");
static ulong left;
module_param(left, ulong, 0444);
MODULE_PARM_DESC(left, "Bytes that stay (0: none)");

static struct pci_dev *pdev;
static struct resource before;

static int __init lostbar_init(void)
{
	struct resource *lost;

	if (resource >= PCI_STD_NUM_BARS)
		return -EINVAL;
	pdev = pci_get_domain_bus_and_slot(0, 0, PCI_DEVFN(slot, 0));
	if (!pdev)
		return -ENODEV;
	lost = &pdev->resource[resource];
	before = *lost;
	if (left) {
		lost->end = lost->start + left - 1;
		return 0;
	}
	lost->start = 0;
	lost->end = 0;
	lost->flags = 0;
	return 0;
}

static void __exit lostbar_exit(void)
{
	struct resource *lost = &pdev->resource[resource];

	lost->start = before.start;
	lost->end = before.end;
	lost->flags = before.flags;
	pci_dev_put(pdev);
}

module_init(lostbar_init);
module_exit(lostbar_exit);
MODULE_DESCRIPTION("Takes a BAR from a PCI device, for a test");
MODULE_LICENSE("Dual MIT/GPL");
