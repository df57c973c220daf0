/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The list of GPUs and their numbers. Of the GPUs present at load, numbers
 * follow the order of buses and of bus addresses; a later one gets the lowest
 * free number.
 */
#ifndef NVDEBUG_GPUS_H
#define NVDEBUG_GPUS_H

#include <linux/types.h>

struct device;
struct nvdebug_bus;
struct nvdebug_device;

/* The presentation of GPUs: /proc. */
struct nvdebug_publisher {
	/* Create device->proc, with that number. */
	int (*publish)(struct nvdebug_device *device, unsigned int number);
	/* Remove it, after waiting for all users. */
	void (*withdraw)(struct nvdebug_device *device);
};

/*
 * Find the GPUs of all buses and register for hotplug. Fails if one could not
 * get its directory.
 */
int nvdebug_gpus_start(const struct nvdebug_publisher *publisher);
void nvdebug_gpus_stop(void);

/*
 * For buses, inside bus->scan() only: a GPU was found, which may be known
 * already. Neither accesses the device nor waits for anybody.
 */
void nvdebug_gpus_found(const struct nvdebug_bus *bus, struct device *dev);
/* A device was added: scan from a work queue. */
void nvdebug_gpus_scan_later(void);
/*
 * Probe a GPU again from a work queue, if it was not identified or has gaps. If
 * more is known then, its directory is removed, open files included, and
 * created again with the same number.
 */
void nvdebug_gpus_probe_again(struct nvdebug_device *device);
/*
 * A driver change, to be called for all BUS_NOTIFY_* events, with the device
 * lock. Ends hardware accesses in progress and waits for them.
 */
void nvdebug_gpus_driver_event(struct device *dev, unsigned long event);
/*
 * It is removed: no access afterwards. To be called for BUS_NOTIFY_DEL_DEVICE,
 * and for BUS_NOTIFY_REMOVED_DEVICE, as a scan may find the device until then.
 */
void nvdebug_gpus_remove(struct device *dev);

extern const struct nvdebug_bus nvdebug_bus_pci;
extern const struct nvdebug_bus nvdebug_bus_platform;

#endif
