/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A GPU as a device of this machine: its BARs, its driver, its power. Files of
 * core/ know struct nvdebug_gpu alone, which is part of it.
 *
 * Registers are only accessed between nvdebug_gpu_begin() and _end(), and that
 * only while it is probed and inside an open, write or close of one of the
 * GPU's files. Retiring removes the files first; procfs waits for calls into
 * them to finish and closes those that are open, so none can be inside when the
 * mapping goes. No reader has to lock anything for that.
 */
#ifndef NVDEBUG_ACCESS_DEVICE_H
#define NVDEBUG_ACCESS_DEVICE_H

#include <linux/kernel.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/ratelimit_types.h>
#include <linux/rwsem.h>
#include <linux/types.h>

#include "core/gpu.h"
#include "core/machine.h"

struct device;
struct device_driver;
struct nvdebug_bus;
struct nvdebug_proc;
struct resource;

#define NVDEBUG_BARS	3	/* by NVIDIA's numbers: registers, FB, instance */

struct nvdebug_device {
	struct nvdebug_gpu gpu;
	struct kref ref;
	struct list_head node;		/* in the order of numbers */
	const struct nvdebug_bus *bus;
	struct device *dev;
	const struct resource *bar[NVDEBUG_BARS];	/* NULL: not there */
	void __iomem *bar0;
	resource_size_t bar0_len;
	bool enabled;			/* the bus did something for us */
	bool gone;			/* no hardware access may start */
	/* Why none may but to look at modes or put something back, or NULL. */
	const char *closed;

	/* Requests may be many, lines in the log may not. */
	struct ratelimit_state info_ratelimit;
	struct ratelimit_state err_ratelimit;

	/*
	 * Read-held across hardware access, write-held when another driver is
	 * bound or unbound, to drain it.
	 */
	struct rw_semaphore hw_access;
	/* Under hw_access. The driver from before its probe to after its remove */
	struct device_driver *driver;
	bool driver_runs;	/* under hw_access: between the two */

	/* Under gpu.lock, see access/list_memory.c. */
	u32 lists;		/* in memory of ours */
	bool started_dma;	/* for them */
	bool dma_left_on;	/* by us, as a driver may need it */

	/*
	 * gpu is set when the device is probed, and does not change then: at
	 * creation, or under this lock, of a GPU that slept.
	 */
	struct mutex identity;
	bool identified;

	struct nvdebug_proc *proc;	/* NULL: no folder */
	int number;			/* of the folder, -1: none yet */
	/* Of a GPU with gaps, see nvdebug_gpus_look_again(). */
	bool look_again;
	unsigned long looked;		/* jiffies */
};

static inline struct nvdebug_device *
nvdebug_device(const struct nvdebug_gpu *gpu)
{
	return container_of(gpu, struct nvdebug_device, gpu);
}

#define NVDEBUG_GIVEN_AWAY	"given to a program or virtual machine"
/* Does its driver let programs drive it? Then it is not touched. */
bool nvdebug_device_is_given_away(struct nvdebug_device *device);
/* The driver's name, "-" without one. -EINTR */
int __must_check nvdebug_device_driver_name(struct nvdebug_device *device,
					    char *name, size_t size);

int __must_check nvdebug_device_map_registers(struct nvdebug_device *device);
void nvdebug_device_unmap_registers(struct nvdebug_device *device);

void nvdebug_device_log_init(struct nvdebug_device *device);

#endif
