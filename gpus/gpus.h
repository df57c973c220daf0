/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The GPUs there are: which have a folder, and under which number. Numbers
 * follow the order of buses and of addresses on them, for the GPUs that are
 * there when the module is loaded; one that comes later gets the lowest free.
 */
#ifndef NVDEBUG_GPUS_H
#define NVDEBUG_GPUS_H

#include <linux/types.h>

struct device;
struct nvdebug_bus;
struct nvdebug_device;

/* Who shows GPUs. */
struct nvdebug_publisher {
	/* Make device->proc, under that number. */
	int (*publish)(struct nvdebug_device *device, unsigned int number);
	/* Waits for who uses it, and ends that. */
	void (*withdraw)(struct nvdebug_device *device);
};

/*
 * Find the GPUs of all buses, and hear of those that come and go. Fails if one
 * could not get its folder.
 */
int nvdebug_gpus_start(const struct nvdebug_publisher *publisher);
void nvdebug_gpus_stop(void);

/* For buses. Inside scan() only, with the device's lock: this one is there. */
void nvdebug_gpus_add(const struct nvdebug_bus *bus, struct device *dev);
/* A device is complete, or about to be: look again, from a work queue. */
void nvdebug_gpus_scan_later(void);
/*
 * What the GPU did not tell when it was identified it may tell now that a
 * driver has set it up: look again, from a work queue. If it does tell more,
 * its folder goes, with all that is open, and comes back with the same number.
 */
void nvdebug_gpus_look_again(struct nvdebug_device *device);
/*
 * A driver is bound to it, unbound from it, or did not take it: for all of
 * BUS_NOTIFY_*, of which the others are nothing to us. Waits until nobody
 * touches the GPU.
 */
void nvdebug_gpus_driver(struct device *dev, unsigned long event);
/* It goes: nothing touches it afterwards. No GPU may be scanned for. */
void nvdebug_gpus_remove(struct device *dev);

extern const struct nvdebug_bus nvdebug_bus_pci;
extern const struct nvdebug_bus nvdebug_bus_platform;

#endif
