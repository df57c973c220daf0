/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * How a GPU is attached to the machine, and what follows from that: where its
 * registers are, whether they can be reached now, who hears of GPUs that come
 * and go. One table per bus, chosen when the GPU is found; no driver is
 * registered with any of them.
 */
#ifndef NVDEBUG_ACCESS_BUS_H
#define NVDEBUG_ACCESS_BUS_H

#include <linux/types.h>

struct device;
struct nvdebug_device;
struct seq_file;

struct nvdebug_bus {
	unsigned int rank;	/* GPUs of the lower one have lower numbers */
	/* Within the bus, GPUs are in the order of this. */
	u64 (*address)(struct device *dev);

	/* Hear of GPUs that come and go, from now on. */
	int (*watch)(void);
	void (*unwatch)(void);
	/* nvdebug_gpus_add() for each GPU that is there. */
	void (*scan)(void);

	/* Fill in device->bar, and what else of @device is the bus's. */
	void (*attach)(struct nvdebug_device *device);
	/* The chip it is, known without touching it, or 0. */
	u16 (*chip_id_hint)(struct nvdebug_device *device);
	/* Make sure that BAR0 answers, also if there is no driver. */
	int (*enable)(struct nvdebug_device *device);
	void (*disable)(struct nvdebug_device *device);
	/*
	 * Keep what the device needs to be reached from falling asleep, and no
	 * longer: in pairs, around the device's own count.
	 */
	void (*hold)(struct nvdebug_device *device);
	void (*release)(struct nvdebug_device *device);
	/* It has another driver, or none: with device->hw_access held for writing. */
	void (*driver_changed)(struct nvdebug_device *device);
	/*
	 * Can the registers be reached? The caller keeps the device from
	 * falling asleep from before this until it is done with them.
	 */
	bool (*is_awake)(struct nvdebug_device *device);
	/* Why no more than the identity can be shown, or NULL. */
	const char *(*unsupported)(struct nvdebug_device *device);
	/* Lines of info that only make sense on one bus; NULL: not on this. */
	void (*show_pci)(struct seq_file *m, const struct nvdebug_device *device);
	void (*show_platform)(struct seq_file *m,
			      const struct nvdebug_device *device);

	/*
	 * Does a driver of user space decide what the GPU's addresses mean?
	 * With device->hw_access held.
	 */
	bool (*is_user_space)(const struct nvdebug_device *device);
	/* Let the GPU read system memory: true if that was not so before. */
	bool (*start_dma)(struct nvdebug_device *device);
	void (*stop_dma)(struct nvdebug_device *device);
};

#endif
