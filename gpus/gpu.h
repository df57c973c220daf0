/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Lifetime of a GPU: nvdebug_device_create() maps and probes it,
 * nvdebug_device_retire() ends hardware access, and the last reference frees
 * it.
 */
#ifndef NVDEBUG_GPUS_GPU_H
#define NVDEBUG_GPUS_GPU_H

#include <linux/types.h>

struct device;
struct device_driver;
struct nvdebug_bus;
struct nvdebug_device;

/*
 * Map and probe the GPU @dev. Logs why it fails. A GPU that is suspended or
 * assigned to user space is identified later.
 */
struct nvdebug_device *nvdebug_device_create(const struct nvdebug_bus *bus,
					     struct device *dev);
/* After its files are removed. Drops the initial reference. */
void nvdebug_device_retire(struct nvdebug_device *device);
void nvdebug_device_get(struct nvdebug_device *device);
void nvdebug_device_put(struct nvdebug_device *device);
/*
 * Identify a GPU that could not be identified before, unless that was tried too
 * often lately. Returns true if it succeeded now.
 */
bool nvdebug_device_identify(struct nvdebug_device *device);
/*
 * Set its driver (NULL: none; @runs: between its probe and remove) after ending
 * hardware accesses in progress. Only from the bus notifier, with the device
 * lock held.
 */
void nvdebug_device_set_driver(struct nvdebug_device *device,
			       struct device_driver *driver, bool runs);
/*
 * Compare with @fresh, probed again while a driver is bound: if it has fewer
 * gaps, it takes over the number of @device, and true is returned.
 */
bool nvdebug_device_replaces(struct nvdebug_device *fresh,
			     const struct nvdebug_device *device);
/*
 * Read its modes, if it is identified and awake. MIG or confidential computing
 * closes it until they are read again.
 */
void nvdebug_device_read_modes(struct nvdebug_device *device);

#endif
