// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * A driver for GPUs on PCI that does nothing with them. It binds only to
 * devices whose driver_override names it.
 */
#include <linux/module.h>
#include <linux/pci.h>

#include "compat/compat.h"

static char *name = "pcigpu";
module_param(name, charp, 0444);
MODULE_PARM_DESC(name, "The driver's name");
static bool user_space;
module_param(user_space, bool, 0444);
MODULE_PARM_DESC(user_space, "Is it one for drivers in user space? Needs a name vfio-...");
static bool fail;
module_param(fail, bool, 0644);
MODULE_PARM_DESC(fail, "Does it refuse the GPU?");

static bool master = true;
module_param(master, bool, 0644);
MODULE_PARM_DESC(master, "Does it use bus mastering, and disable what it enabled?");

static int add_device(struct pci_dev *pci, const struct pci_device_id *id)
{
	int ret = pci_enable_device(pci);

	if (ret)
		return ret;
	if (master)
		pci_set_master(pci);
	if (!fail)
		return 0;
	pci_disable_device(pci);
	return -EBUSY;
}

static void remove_device(struct pci_dev *pci)
{
	if (master)
		pci_disable_device(pci);
}

static const struct pci_device_id no_ids[] = {
	{ }
};

static struct pci_driver driver = {
	.id_table = no_ids,
	.probe = add_device,
	.remove = remove_device,
};

static int __init pcigpu_init(void)
{
	driver.name = name;
#ifdef NVDEBUG_HAVE_DRIVER_MANAGED_DMA
	driver.driver_managed_dma = user_space;
#endif
	return pci_register_driver(&driver);
}

static void __exit pcigpu_exit(void)
{
	pci_unregister_driver(&driver);
}

module_init(pcigpu_init);
module_exit(pcigpu_exit);
MODULE_DESCRIPTION("A driver of GPUs on PCI that does nothing, for tests");
MODULE_LICENSE("Dual MIT/GPL");
