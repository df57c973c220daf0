/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The life of a GPU: nvdebug_device_create() maps and probes it,
 * nvdebug_device_retire() ends every access to the hardware, and the memory
 * goes with the last reference.
 */
#ifndef NVDEBUG_GPUS_GPU_H
#define NVDEBUG_GPUS_GPU_H

#include <linux/types.h>

struct device;
struct device_driver;
struct nvdebug_bus;
struct nvdebug_device;

/*
 * Map and probe the GPU behind @dev. Says in the log why, if it cannot. One
 * that sleeps, or that programs drive, is identified later.
 */
struct nvdebug_device *nvdebug_device_create(const struct nvdebug_bus *bus,
					     struct device *dev);
/* After its files are gone. Drops the creator's reference. */
void nvdebug_device_retire(struct nvdebug_device *device);
void nvdebug_device_get(struct nvdebug_device *device);
void nvdebug_device_put(struct nvdebug_device *device);
/*
 * If it slept until now and is awake, identify it. Returns true if it was not
 * identified before, and is now.
 */
bool nvdebug_device_identify(struct nvdebug_device *device);
/*
 * Wait for who accesses it, and note its driver: NULL if there is none, @runs
 * between its probe and its remove. From the bus's notifier alone, with the
 * device's lock held.
 */
void nvdebug_device_driver(struct nvdebug_device *device,
			   struct device_driver *driver, bool runs);
/*
 * Probed anew while a driver is bound: does @fresh tell more than @device? If
 * so it takes the place of @device, which is to be retired.
 */
bool nvdebug_device_found_new(struct nvdebug_device *fresh,
			      const struct nvdebug_device *device);
/*
 * Read its modes, if it is identified and awake. One that leaves it to others
 * closes it, until they are read again.
 */
void nvdebug_device_read_modes(struct nvdebug_device *device);

#endif
