// SPDX-License-Identifier: MIT OR GPL-2.0
/* Holds the lock of a PCI device as long as it is loaded. */
#include <linux/device.h>
#include <linux/module.h>
#include <linux/pci.h>

static unsigned int slot;
module_param(slot, uint, 0444);
MODULE_PARM_DESC(slot, "The device's number on bus 0");

static struct pci_dev *pdev;

static int __init devicelock_init(void)
{
	pdev = pci_get_domain_bus_and_slot(0, 0, PCI_DEVFN(slot, 0));
	if (!pdev)
		return -ENODEV;
	device_lock(&pdev->dev);
	return 0;
}

static void __exit devicelock_exit(void)
{
	device_unlock(&pdev->dev);
	pci_dev_put(pdev);
}

module_init(devicelock_init);
module_exit(devicelock_exit);
MODULE_DESCRIPTION("Holds the lock of a PCI device, for a test");
MODULE_LICENSE("Dual MIT/GPL");
