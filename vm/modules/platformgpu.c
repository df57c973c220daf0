// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Shows a modelled GPU of an SoC, which QEMU can only attach as a PCI device,
 * as the platform device that it is. The device has the name of such a device,
 * a property "compatible" and its register regions. A driver of its own is
 * bound to it, with runtime power management, off until "auto" is written to
 * the device's power/control. The driver touches no register, so that the model
 * counts only accesses of others.
 */
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/platform_device.h>
#include <linux/pm_runtime.h>
#include <linux/property.h>

#define DRIVER_NAME	"platformgpu"

static const struct pci_device_id pci_ids[] = {
	{ PCI_DEVICE(0x1234, 0x6710),
	  .driver_data = (kernel_ulong_t)"nvidia,gp10b" },
	{ PCI_DEVICE(0x1234, 0x6711),
	  .driver_data = (kernel_ulong_t)"nvidia,gv11b" },
	{ PCI_DEVICE(0x1234, 0x6712),
	  .driver_data = (kernel_ulong_t)"nvidia,ga10b" },
	{ }
};
MODULE_DEVICE_TABLE(pci, pci_ids);

static int make_device(struct pci_dev *pci, const char *compatible)
{
	const struct property_entry properties[] = {
		PROPERTY_ENTRY_STRING("compatible", compatible),
		{ }
	};
	/*
	 * PCI's regions are the parents, so these are shown as parts of them.
	 */
	const struct resource regions[] = {
		{
			.start = pci_resource_start(pci, 0),
			.end = pci_resource_end(pci, 0),
			.flags = IORESOURCE_MEM,
			.parent = &pci->resource[0],
		}, {
			.start = pci_resource_start(pci, 1),
			.end = pci_resource_end(pci, 1),
			.flags = IORESOURCE_MEM,
			.parent = &pci->resource[1],
		},
	};
	char name[PLATFORM_NAME_SIZE];
	const struct platform_device_info info = {
		.parent = &pci->dev,
		.name = name,
		.id = PLATFORM_DEVID_NONE,
		.res = regions,
		.num_res = pci_resource_len(pci, 1) ? 2 : 1,
		.properties = properties,
		.dma_mask = DMA_BIT_MASK(32),
	};
	struct platform_device *pdev;
	int ret;

	/*
	 * The name has no address of a region, because that changes with every
	 * rescan.
	 */
	snprintf(name, sizeof(name), "%x.gpu", 0x17000000 + (pci->devfn << 16));
	pdev = platform_device_register_full(&info);
	if (IS_ERR(pdev))
		return PTR_ERR(pdev);
	pci_set_drvdata(pci, pdev);
	/* The name in sysfs stays; drivers are looked for by this name. */
	pdev->name = DRIVER_NAME;
	ret = device_attach(&pdev->dev);
	if (ret == 1)
		return 0;
	platform_device_unregister(pdev);
	return ret ? ret : -ENODEV;
}

static void remove_device(struct pci_dev *pci)
{
	platform_device_unregister(pci_get_drvdata(pci));
}

/*
 * Add the platform device. pci_enable_device() is not called, because it has
 * ACPI look for the interrupt, here and when the device goes. If an allocation
 * fails in that, as tests make it, ACPI goes on with freed memory.
 */
static int add_device(struct pci_dev *pci, const struct pci_device_id *id)
{
	u16 command;

	pci_read_config_word(pci, PCI_COMMAND, &command);
	command |= PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER;
	pci_write_config_word(pci, PCI_COMMAND, command);
	return make_device(pci, (const char *)id->driver_data);
}

static struct pci_driver pci_driver = {
	.name = DRIVER_NAME,
	.id_table = pci_ids,
	.probe = add_device,
	.remove = remove_device,
};

static void power_off(void *data)
{
	struct device *dev = data;

	pm_runtime_allow(dev);
	pm_runtime_disable(dev);
	pm_runtime_set_suspended(dev);
}

static int power_on(struct platform_device *pdev)
{
	struct device *dev = &pdev->dev;

	pm_runtime_set_active(dev);
	pm_runtime_enable(dev);
	pm_runtime_forbid(dev);
	return devm_add_action_or_reset(dev, power_off, dev);
}

/* Suspend and resume do nothing. An access between them would hang a real GPU. */
static int nothing(struct device *dev)
{
	return 0;
}

static const struct dev_pm_ops pm_ops = {
	SET_RUNTIME_PM_OPS(nothing, nothing, NULL)
};

static struct platform_driver platform_driver = {
	.driver.name = DRIVER_NAME,
	.driver.pm = &pm_ops,
	.probe = power_on,
};

static int __init platformgpu_init(void)
{
	int ret = platform_driver_register(&platform_driver);

	if (ret)
		return ret;
	ret = pci_register_driver(&pci_driver);
	if (ret)
		platform_driver_unregister(&platform_driver);
	return ret;
}

static void __exit platformgpu_exit(void)
{
	pci_unregister_driver(&pci_driver);
	platform_driver_unregister(&platform_driver);
}

module_init(platformgpu_init);
module_exit(platformgpu_exit);
MODULE_DESCRIPTION("Shows modelled GPUs of SoCs as platform devices");
MODULE_LICENSE("Dual MIT/GPL");
