/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The list of GPUs and their numbers. The numbers of GPUs that are present at
 * load follow the order of buses and of bus addresses; a later GPU gets the
 * lowest free number.
 */
#ifndef NVDEBUG_GPUS_H
#define NVDEBUG_GPUS_H

#include <linux/types.h>

struct device;
struct nvdebug_bus;
struct nvdebug_device;

/* The presentation of GPUs: /proc. */
struct nvdebug_publisher {
	/*
	 * Create device->proc, with this number. What was created before an
	 * error stays until withdraw(): a task may be inside one of the files.
	 */
	int (*publish)(struct nvdebug_device *device, unsigned int number);
	/* Remove device->proc, after waiting for all users. */
	void (*withdraw)(struct nvdebug_device *device);
};

/*
 * Find the GPUs of all buses and register for hotplug. Fails if a GPU could not
 * get its directory.
 */
int nvdebug_gpus_start(const struct nvdebug_publisher *publisher);
void nvdebug_gpus_stop(void);

/*
 * Report a GPU, which may be known already. Buses call this, inside bus->scan()
 * only. It neither accesses the device nor waits.
 */
void nvdebug_gpus_found(const struct nvdebug_bus *bus, struct device *dev);
/* Scan from a work queue, because a device was added. */
void nvdebug_gpus_scan_later(void);
/*
 * Probe a GPU again from a work queue, if it was not identified or has gaps. If
 * the probe learns more, the GPU's directory is removed, open files included,
 * and created again with the same number.
 */
void nvdebug_gpus_probe_again(struct nvdebug_device *device);
/*
 * Handle a driver change. Called for all BUS_NOTIFY_* events, with the device
 * lock held. Ends hardware accesses in progress and waits for them.
 */
void nvdebug_gpus_driver_event(struct device *dev, unsigned long event);
/*
 * Remove a GPU: there is no access afterwards. Called for
 * BUS_NOTIFY_DEL_DEVICE, and for BUS_NOTIFY_REMOVED_DEVICE, as a scan may find
 * the device until then.
 */
void nvdebug_gpus_remove(struct device *dev);

extern const struct nvdebug_bus nvdebug_bus_pci;
extern const struct nvdebug_bus nvdebug_bus_platform;

#endif
