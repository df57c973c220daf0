// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * GPUs of SoCs, as platform devices. The driver powers them off when idle, and
 * an access then may hang the machine. So they are accessed only while a driver
 * is bound and runtime PM is enabled and active.
 *
 * Sources: Linux arch/arm64/boot/dts/nvidia/tegra{186,194}.dtsi; linux-nvgpu
 * os/linux/module.c for the order of register regions.
 */
#include <linux/device.h>
#include <linux/kernel.h>
#include <linux/notifier.h>
#include <linux/platform_device.h>
#include <linux/pm_runtime.h>
#include <linux/property.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "access/bus.h"
#include "access/device.h"
#include "compat/compat.h"
#include "core/machine.h"
#include "gpus/gpus.h"
#include "hw/soc.h"

/* Maximum number of compatible strings: a GPU has one or two. */
#define NAMES	8

/*
 * Return the known compatible string of @dev, or NULL. It comes from the device
 * tree or from software nodes. device_property_match_string() would allocate,
 * but the removal of a GPU must be handled without memory, too.
 */
static const char *platform_compatible(struct device *dev, u16 *chip)
{
	const char *name[NAMES];
	int count = device_property_read_string_array(dev, "compatible", name,
						      ARRAY_SIZE(name));
	size_t i;
	int n;

	for (n = 0; n < count; n++) {
		for (i = 0; i < ARRAY_SIZE(nvdebug_soc_gpus); i++) {
			if (strcmp(name[n], nvdebug_soc_gpus[i].compatible))
				continue;
			*chip = nvdebug_soc_gpus[i].chip;
			return nvdebug_soc_gpus[i].compatible;
		}
	}
	return NULL;
}

static bool platform_is_gpu(struct device *dev)
{
	u16 chip;

	return platform_compatible(dev, &chip);
}

static u64 platform_address(struct device *dev)
{
	const struct resource *registers =
		platform_get_resource(to_platform_device(dev),
				      IORESOURCE_MEM, 0);

	return registers ? registers->start : 0;
}

static int platform_add(struct device *dev, void *data)
{
	if (platform_is_gpu(dev))
		nvdebug_gpus_found(&nvdebug_bus_platform, dev);
	return 0;
}

static void platform_scan(void)
{
	bus_for_each_dev(&platform_bus_type, NULL, NULL, platform_add);
}

static int platform_event(struct notifier_block *block, unsigned long event,
			  void *data)
{
	struct device *dev = data;

	if (!platform_is_gpu(dev))
		return NOTIFY_DONE;

	switch (event) {
	case BUS_NOTIFY_ADD_DEVICE:
		nvdebug_gpus_scan_later();
		break;
	case BUS_NOTIFY_DEL_DEVICE:
	case BUS_NOTIFY_REMOVED_DEVICE:
		nvdebug_gpus_remove(dev);
		break;
	default:
		nvdebug_gpus_driver_event(dev, event);
	}
	return NOTIFY_DONE;
}

static struct notifier_block platform_notifier = {
	.notifier_call = platform_event,
};

static int platform_watch(void)
{
	return bus_register_notifier(&platform_bus_type, &platform_notifier);
}

static void platform_unwatch(void)
{
	bus_unregister_notifier(&platform_bus_type, &platform_notifier);
}

static void platform_attach(struct nvdebug_device *device)
{
	struct platform_device *pdev = to_platform_device(device->dev);
	int i;

	/* The registers come first, then the region that is BAR1 on PCI. */
	for (i = 0; i < 2; i++)
		device->bar[i] = platform_get_resource(pdev, IORESOURCE_MEM, i);
}

static u16 platform_chip_id_hint(struct nvdebug_device *device)
{
	u16 chip = 0;

	platform_compatible(device->dev, &chip);
	return chip;
}

/* The driver enables the GPU. */
static int platform_enable(struct nvdebug_device *device)
{
	return 0;
}

static void platform_disable(struct nvdebug_device *device)
{
}

/* The driver keeps the GPU active. */
static void platform_hold(struct nvdebug_device *device)
{
}

static void platform_release(struct nvdebug_device *device)
{
}

static void platform_driver_changed(struct nvdebug_device *device)
{
}

static bool platform_is_awake(struct nvdebug_device *device)
{
	return device->driver_runs && pm_runtime_enabled(device->dev) &&
	       pm_runtime_active(device->dev);
}

static const char *platform_unsupported(struct nvdebug_device *device)
{
	return NULL;
}

static void platform_show_info(struct seq_file *m,
			       const struct nvdebug_device *device)
{
	u16 chip;

	seq_printf(m, "platform_device: %s\n", dev_name(device->dev));
	seq_printf(m, "compatible: %s\n",
		   platform_compatible(device->dev, &chip));
}

static bool platform_is_user_space(struct device_driver *driver)
{
	return nvdebug_driver_managed_dma(to_platform_driver(driver));
}

/* DMA is always enabled, so nothing is started. */
static bool platform_start_dma(struct nvdebug_device *device)
{
	return false;
}

static void platform_stop_dma(struct nvdebug_device *device)
{
}

const struct nvdebug_bus nvdebug_bus_platform = {
	.rank = 1,
	.address = platform_address,
	.watch = platform_watch,
	.unwatch = platform_unwatch,
	.scan = platform_scan,
	.attach = platform_attach,
	.chip_id_hint = platform_chip_id_hint,
	.enable = platform_enable,
	.disable = platform_disable,
	.hold = platform_hold,
	.release = platform_release,
	.driver_changed = platform_driver_changed,
	.is_awake = platform_is_awake,
	.is_on = platform_is_awake,
	.unsupported = platform_unsupported,
	.show_platform = platform_show_info,
	.is_user_space = platform_is_user_space,
	.start_dma = platform_start_dma,
	.stop_dma = platform_stop_dma,
};
