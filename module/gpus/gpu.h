/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Lifetime of a GPU: nvdebug_device_probe() maps and identifies it,
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

/* Allocate the state of a GPU. Accesses nothing. NULL: no memory. */
struct nvdebug_device *nvdebug_device_create(const struct nvdebug_bus *bus,
					     struct device *dev);
/*
 * Map and identify the GPU, once, with the device lock held. Fails, with a line
 * in the log, if the GPU is to be left alone. A GPU that is suspended, closed
 * by a mode or assigned to user space is no failure: it is only not identified.
 * @closed: why a mode closed it until now, or NULL; it stays closed until the
 * modes can be read.
 */
int __must_check nvdebug_device_probe(struct nvdebug_device *device,
				      const char *closed);
/*
 * Undo all changes and end hardware access. The GPU has no files yet, or
 * device->gone is set; its files may be open.
 */
void nvdebug_device_retire(struct nvdebug_device *device);
void nvdebug_device_get(struct nvdebug_device *device);
void nvdebug_device_put(struct nvdebug_device *device);
/*
 * Set the driver (NULL: none; @runs: between its probe and remove) after ending
 * hardware accesses in progress. Called only from the bus notifier, with the
 * device lock held.
 */
void nvdebug_device_set_driver(struct nvdebug_device *device,
			       struct device_driver *driver, bool runs);
/*
 * Compare @device with @fresh, the same GPU probed again. If more is known of
 * it by now, @fresh takes over the number of @device, and the function returns
 * true.
 */
bool nvdebug_device_replaces(struct nvdebug_device *fresh,
			     const struct nvdebug_device *device);
/*
 * Read the GPU's modes, if it is identified and awake. MIG or confidential
 * computing closes the GPU until the modes are read again.
 */
void nvdebug_device_read_modes(struct nvdebug_device *device);

#endif
