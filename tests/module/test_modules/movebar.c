// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Exchanges BAR0 of two PCI devices without drivers while it is loaded, with
 * memory decoding off, as the kernel moves the BARs of a device when one of them
 * is resized (resourceN_resize).
 */
#include <linux/device.h>
#include <linux/ioport.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/pci.h>

static unsigned int slot[2];
module_param_array(slot, uint, NULL, 0444);
MODULE_PARM_DESC(slot, "Numbers of two devices on bus 0");

static struct pci_dev *pdev[2];

static void write_bar(struct pci_dev *dev, u16 command)
{
	struct resource *bar = &dev->resource[0];
	struct pci_bus_region region;

	pcibios_resource_to_bus(dev->bus, &region, bar);
	pci_write_config_dword(dev, PCI_BASE_ADDRESS_0,
			       (u32)region.start | (bar->flags & 15));
	if (bar->flags & IORESOURCE_MEM_64)
		pci_write_config_dword(dev, PCI_BASE_ADDRESS_1,
				       upper_32_bits(region.start));
	pci_write_config_word(dev, PCI_COMMAND, command);
}

static void exchange(void)
{
	u16 command[2];
	int i;

	for (i = 0; i < 2; i++) {
		device_lock(&pdev[i]->dev);
		pci_read_config_word(pdev[i], PCI_COMMAND, &command[i]);
		pci_write_config_word(pdev[i], PCI_COMMAND,
				      command[i] & ~PCI_COMMAND_MEMORY);
	}
	swap(pdev[0]->resource[0].start, pdev[1]->resource[0].start);
	swap(pdev[0]->resource[0].end, pdev[1]->resource[0].end);
	for (i = 0; i < 2; i++)
		write_bar(pdev[i], command[i]);
	for (i = 0; i < 2; i++)
		device_unlock(&pdev[i]->dev);
}

static int __init movebar_init(void)
{
	int i;

	for (i = 0; i < 2; i++)
		pdev[i] = pci_get_domain_bus_and_slot(0, 0, PCI_DEVFN(slot[i], 0));
	if (!pdev[0] || !pdev[1] ||
	    resource_size(&pdev[0]->resource[0]) != resource_size(&pdev[1]->resource[0])) {
		pci_dev_put(pdev[0]);
		pci_dev_put(pdev[1]);
		return -ENODEV;
	}
	exchange();
	return 0;
}

static void __exit movebar_exit(void)
{
	exchange();
	pci_dev_put(pdev[0]);
	pci_dev_put(pdev[1]);
}

module_init(movebar_init);
module_exit(movebar_exit);
MODULE_DESCRIPTION("Exchanges BAR0 of two devices, for a test");
MODULE_LICENSE("Dual MIT/GPL");
