/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Bus operations: location of the registers, power, hotplug. One table per bus,
 * chosen when the GPU is found. No driver is registered on any bus.
 */
#ifndef NVDEBUG_ACCESS_BUS_H
#define NVDEBUG_ACCESS_BUS_H

#include <linux/types.h>

struct device;
struct device_driver;
struct nvdebug_device;
struct seq_file;

struct nvdebug_bus {
	unsigned int rank;	/* buses of lower rank are numbered first */
	/* Return the sort key of a GPU within the bus. */
	u64 (*address)(struct device *dev);

	/* Register the bus notifier. */
	int (*watch)(void);
	void (*unwatch)(void);
	/* Call nvdebug_gpus_found() for each GPU. Waits for no device. */
	void (*scan)(void);

	/* Fill in device->bar. */
	void (*attach)(struct nvdebug_device *device);
	/* Chip id, if known without an access, or 0. */
	u16 (*chip_id_hint)(struct nvdebug_device *device);
	/* Enable memory decoding if there is no driver. */
	int (*enable)(struct nvdebug_device *device);
	void (*disable)(struct nvdebug_device *device);
	/*
	 * Hold runtime PM references of the devices above this one. Calls are
	 * paired, around the device's own reference.
	 */
	void (*hold)(struct nvdebug_device *device);
	void (*release)(struct nvdebug_device *device);
	/* A driver was bound or unbound; device->hw_access is write-held. */
	void (*driver_changed)(struct nvdebug_device *device);
	/*
	 * Return whether the registers can be accessed. The caller holds a
	 * runtime PM reference until it is done with them.
	 */
	bool (*is_awake)(struct nvdebug_device *device);
	/*
	 * Return whether the GPU has power. Host may then read memory, even if
	 * the device is suspended: a PCI device without a driver stays in D0.
	 */
	bool (*is_on)(struct nvdebug_device *device);
	/*
	 * Return why the GPU is not accessed at all and has only info, or NULL.
	 */
	const char *(*unsupported)(struct nvdebug_device *device);
	/*
	 * Print the lines of info that only this bus has. NULL: another bus's.
	 */
	void (*show_pci)(struct seq_file *m, const struct nvdebug_device *device);
	void (*show_platform)(struct seq_file *m,
			      const struct nvdebug_device *device);

	/* Return whether the driver lets user space manage the DMA (VFIO). */
	bool (*is_user_space)(struct device_driver *driver);
	/* Enable DMA. Returns true if it was disabled. */
	bool (*start_dma)(struct nvdebug_device *device);
	void (*stop_dma)(struct nvdebug_device *device);
};

#endif
