// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * GPUs on PCI. No PCI driver is registered: the GPU's driver stays bound.
 */
/*
 * The prefix of dev_*() is the bound driver's name, so the module's is added.
 */
#define dev_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/notifier.h>
#include <linux/pci.h>
#include <linux/pm_runtime.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "access/bus.h"
#include "access/device.h"
#include "compat/compat.h"
#include "core/machine.h"
#include "gpus/gpus.h"

/*
 * Return whether the device is a GPU to show. The virtual functions of a GPU of
 * this host are left out: a guest may use them, and they would take the numbers
 * of the GPUs that follow.
 */
static bool pci_is_gpu(const struct pci_dev *pdev)
{
	return pdev->vendor == PCI_VENDOR_ID_NVIDIA &&
	       pdev->class >> 16 == PCI_BASE_CLASS_DISPLAY && !pdev->is_virtfn;
}

static u64 pci_address(struct device *dev)
{
	struct pci_dev *pdev = to_pci_dev(dev);

	return (u64)pci_domain_nr(pdev->bus) << 16 | pci_dev_id(pdev);
}

/*
 * Add the GPUs to the list. The lock excludes hotplug, and waits for a rescan
 * in progress. All PCI hotplug uses this lock, and some kernels take it with a
 * device's lock held. So nothing but the list is touched under it.
 */
static void pci_scan(void)
{
	struct pci_dev *pdev = NULL;

	pci_lock_rescan_remove();
	for_each_pci_dev(pdev)
		if (pci_is_gpu(pdev))
			nvdebug_gpus_found(&nvdebug_bus_pci, &pdev->dev);
	pci_unlock_rescan_remove();
}

static int pci_event(struct notifier_block *block, unsigned long event,
		     void *data)
{
	struct device *dev = data;

	if (!pci_is_gpu(to_pci_dev(dev)))
		return NOTIFY_DONE;

	switch (event) {
	case BUS_NOTIFY_ADD_DEVICE:
		/*
		 * The BARs of the device are not assigned yet. The rescan lock
		 * is held until they are, and the scan takes it.
		 */
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

static struct notifier_block pci_notifier = { .notifier_call = pci_event };

static int pci_watch(void)
{
	return bus_register_notifier(&pci_bus_type, &pci_notifier);
}

static void pci_unwatch(void)
{
	bus_unregister_notifier(&pci_bus_type, &pci_notifier);
}

/*
 * Find the resources of NVIDIA's BAR0, BAR1 and BAR2. They are the resources 0,
 * 1 and 3 (open-gpu-doc, dev_nv_xve3g_fn0) or, where BAR0 has 64 bits, 0, 2 and
 * 4 (nv-pci.c of NVIDIA's open driver). Counting the resources that are present
 * would not do: Linux clears the resource of a BAR that it has no address space
 * for, such as a large BAR1.
 */
static void pci_attach(struct nvdebug_device *device)
{
	struct pci_dev *pdev = to_pci_dev(device->dev);
	int i;

	for (i = 0; (i + 1) / 2 < NVDEBUG_BARS; i++)
		if (pci_resource_flags(pdev, i) & IORESOURCE_MEM &&
		    pci_resource_len(pdev, i))
			device->bar[(i + 1) / 2] = &pdev->resource[i];
}

/* The chip id is not known without reading BOOT_0. */
static u16 pci_chip_id_hint(struct nvdebug_device *device)
{
	return 0;
}

/* Enable memory decoding, which may be off without a driver. */
static int pci_enable(struct nvdebug_device *device)
{
	struct pci_dev *pdev = to_pci_dev(device->dev);
	u16 command;
	int ret;

	pci_read_config_word(pdev, PCI_COMMAND, &command);
	if (command & PCI_COMMAND_MEMORY || device->driver)
		return 0;

	ret = pci_enable_device_mem(pdev);
	device->enabled = !ret;
	return ret;
}

static void pci_disable(struct nvdebug_device *device)
{
	if (device->enabled)
		pci_disable_device(to_pci_dev(device->dev));
	device->enabled = false;
}

/*
 * Keep the bridges above the device active. An active device does that itself,
 * but not if its runtime PM is disabled.
 */
static void pci_hold(struct nvdebug_device *device)
{
	struct pci_dev *bridge = to_pci_dev(device->dev);

	while ((bridge = pci_upstream_bridge(bridge))) {
		pm_runtime_get_noresume(&bridge->dev);
		pm_runtime_barrier(&bridge->dev);
	}
}

static void pci_release(struct nvdebug_device *device)
{
	struct pci_dev *bridge = to_pci_dev(device->dev);

	while ((bridge = pci_upstream_bridge(bridge)))
		pm_runtime_put(&bridge->dev);
}

/*
 * Return whether the device is in D0. PCI_UNKNOWN means that its power state
 * never changed, so that is D0, too.
 */
static bool pci_is_in_d0(const struct pci_dev *pdev)
{
	return pdev->current_state == PCI_D0 ||
	       pdev->current_state == PCI_UNKNOWN;
}

/*
 * Return whether the GPU has power. A frozen channel may recover, so its GPU
 * counts as on.
 */
static bool pci_gpu_is_on(struct nvdebug_device *device)
{
	struct pci_dev *pdev = to_pci_dev(device->dev);

	return pci_is_in_d0(pdev) &&
	       pdev->error_state != pci_channel_io_perm_failure;
}

static bool pci_is_awake(struct nvdebug_device *device)
{
	struct pci_dev *pdev = to_pci_dev(device->dev);
	struct pci_dev *bridge = pdev;

	if (!pci_is_in_d0(pdev) || pci_channel_offline(pdev))
		return false;
	while ((bridge = pci_upstream_bridge(bridge)))
		if (!pci_is_in_d0(bridge) || pm_runtime_suspended(&bridge->dev))
			return false;
	return true;
}

/*
 * GPUs whose memory is part of the CPU's address space. They have no PRAMIN,
 * and BARs that differ from other GPUs'. No register is known to identify them,
 * so PCI ids do. Source: the table in Linux 6.18
 * drivers/vfio/pci/nvgrace-gpu/main.c.
 */
static const struct pci_device_id coherent[] = {
	{ PCI_DEVICE(PCI_VENDOR_ID_NVIDIA, 0x2342) },	/* GH200 120GB */
	{ PCI_DEVICE(PCI_VENDOR_ID_NVIDIA, 0x2345) },	/* GH200 480GB */
	{ PCI_DEVICE(PCI_VENDOR_ID_NVIDIA, 0x2348) },	/* GH200 */
	{ PCI_DEVICE(PCI_VENDOR_ID_NVIDIA, 0x2941) },	/* GB200 */
	{ PCI_DEVICE(PCI_VENDOR_ID_NVIDIA, 0x31c2) },	/* GB300 */
	{ }
};

static const char *pci_unsupported(struct nvdebug_device *device)
{
	return pci_match_id(coherent, to_pci_dev(device->dev)) ?
		       "memory coherent with the CPU's" : NULL;
}

static void pci_show_info(struct seq_file *m,
			  const struct nvdebug_device *device)
{
	const struct pci_dev *pdev = to_pci_dev(device->dev);

	seq_printf(m, "pci_address: %s\n", pci_name(pdev));
	seq_printf(m, "pci_id: %04x:%04x\n", pdev->vendor, pdev->device);
	seq_printf(m, "pci_subsystem: %04x:%04x\n", pdev->subsystem_vendor,
		   pdev->subsystem_device);
	seq_printf(m, "pci_class: 0x%06x\n", pdev->class);
}

static bool pci_is_user_space(struct device_driver *driver)
{
	return nvdebug_driver_managed_dma(to_pci_driver(driver));
}

static bool pci_start_dma(struct nvdebug_device *device)
{
	struct pci_dev *pdev = to_pci_dev(device->dev);
	u16 command;

	pci_read_config_word(pdev, PCI_COMMAND, &command);
	if (command & PCI_COMMAND_MASTER)
		return false;
	pci_set_master(pdev);
	nvdebug_info_ratelimit(&device->gpu,
			       "bus mastering is on for a runlist in system memory\n");
	return true;
}

/*
 * Turn bus mastering off. A driver may need it, so with a driver it stays on
 * until the driver is unbound.
 */
static void pci_stop_dma(struct nvdebug_device *device)
{
	device->dma_left_on = device->driver;
	if (device->driver)
		return;
	pci_clear_master(to_pci_dev(device->dev));
	nvdebug_info_ratelimit(&device->gpu, "bus mastering is off again\n");
}

/*
 * While the module holds an enable count, a driver's pci_enable_device() does
 * nothing and its pci_disable_device() leaves bus mastering on. So the module
 * enables the device only while no driver is bound.
 */
static void pci_driver_changed(struct nvdebug_device *device)
{
	if (device->driver) {
		pci_disable(device);
		return;
	}
	if (device->dma_left_on)
		pci_stop_dma(device);
	/* If this fails, the GPU reads as all ones. */
	if (device->bar0 && pci_is_awake(device) && pci_enable(device))
		nvdebug_err_ratelimit(&device->gpu, "cannot enable memory decoding\n");
}

const struct nvdebug_bus nvdebug_bus_pci = {
	.rank = 0,
	.address = pci_address,
	.watch = pci_watch,
	.unwatch = pci_unwatch,
	.scan = pci_scan,
	.attach = pci_attach,
	.chip_id_hint = pci_chip_id_hint,
	.enable = pci_enable,
	.disable = pci_disable,
	.hold = pci_hold,
	.release = pci_release,
	.driver_changed = pci_driver_changed,
	.is_awake = pci_is_awake,
	.is_on = pci_gpu_is_on,
	.unsupported = pci_unsupported,
	.show_pci = pci_show_info,
	.is_user_space = pci_is_user_space,
	.start_dma = pci_start_dma,
	.stop_dma = pci_stop_dma,
};
