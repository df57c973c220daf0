/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Kernel device of a GPU: BARs, driver, power. The core only uses the embedded
 * struct nvdebug_gpu.
 *
 * Registers are only accessed between nvdebug_gpu_begin() and _end(), during
 * probe or inside open, write or release of one of the GPU's files. The files
 * are removed before the mapping: proc_remove() waits for calls in progress and
 * releases open files, so readers need no lock against that.
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
#include <linux/wait.h>

#include "core/gpu.h"
#include "core/machine.h"

struct device;
struct device_driver;
struct nvdebug_bar_finds;
struct nvdebug_bus;
struct nvdebug_proc;
struct resource;

#define NVDEBUG_BARS	3	/* by NVIDIA's numbers: registers, FB, instance */

struct nvdebug_device {
	struct nvdebug_gpu gpu;
	struct kref ref;
	struct list_head node;		/* in the list of GPUs */
	const struct nvdebug_bus *bus;
	struct device *dev;
	const struct resource *bar[NVDEBUG_BARS];	/* NULL: none */
	struct nvdebug_bar_finds *bar_finds;	/* see nvdebug_bars_init() */
	void __iomem *bar0;
	resource_size_t bar0_len;
	bool enabled;			/* by bus->enable() */
	bool gone;			/* no hardware access may start */
	/* Why only modes may be read and state restored, or NULL. */
	const char *closed;

	struct ratelimit_state info_ratelimit;
	struct ratelimit_state warn_ratelimit;
	struct ratelimit_state err_ratelimit;
	struct ratelimit_state identify_ratelimit;	/* attempts */

	/*
	 * Read-held across hardware access, write-held to change the driver.
	 * In the queue of its writers a driver change would keep out what
	 * restores state, so it waits for hw_access_ended, which everyone who
	 * releases hw_access has to wake.
	 */
	struct rw_semaphore hw_access;
	wait_queue_head_t hw_access_ended;
	bool changing;	/* the driver: no access may start, or go on */
	/*
	 * Under hw_access. From before the driver's probe to after its remove
	 */
	struct device_driver *driver;
	bool driver_runs;	/* under hw_access: probed, not removed */
	u32 driver_changes;	/* under hw_access: counted */

	/* Under gpu.lock, see access/list_memory.c. */
	u32 lists;		/* override lists allocated */
	bool started_dma;	/* enabled for them */
	bool dma_left_on;	/* a driver may need it by now */

	/*
	 * gpu is set by the probe, at creation or, if the GPU was suspended
	 * then, later under this lock. Constant afterwards.
	 */
	struct mutex identity;
	bool identified;

	struct nvdebug_proc *proc;	/* NULL: no directory */
	int number;			/* of the directory, -1: none yet */
	/* See nvdebug_gpus_probe_again(). */
	bool probe_again;
	unsigned long probed_at;	/* jiffies */
};

static inline struct nvdebug_device *
nvdebug_device(const struct nvdebug_gpu *gpu)
{
	return container_of(gpu, struct nvdebug_device, gpu);
}

/* Does its driver hand it to user space or a guest? hw_access is held. */
bool nvdebug_device_is_assigned(const struct nvdebug_device *device);
/*
 * *@why: why it may not be accessed now: given away, or probe() or remove() of
 * a driver runs; else NULL. Fails with -EINTR.
 */
int __must_check nvdebug_device_why_busy(struct nvdebug_device *device,
					 const char **why);
/* The driver's name, "-" without one. Fails with -EINTR. */
int __must_check nvdebug_device_driver_name(struct nvdebug_device *device,
					    char *name, size_t size);
/*
 * As nvdebug_gpu_begin_undo(), but resumes a GPU that is suspended and has
 * power. -ENODEV only if it is off or gone, and so reads no memory.
 */
int __must_check nvdebug_device_begin_retire(struct nvdebug_device *device);
/*
 * Set the driver (NULL: none; @runs: between its probe and remove). Ends
 * accesses in progress and waits for them. @meanwhile runs first, when no new
 * access can start.
 */
void nvdebug_device_change_driver(struct nvdebug_device *device,
				  struct device_driver *driver, bool runs,
				  void (*meanwhile)(struct nvdebug_device *device));

int __must_check nvdebug_device_map_registers(struct nvdebug_device *device);
void nvdebug_device_unmap_registers(struct nvdebug_device *device);

void nvdebug_device_log_init(struct nvdebug_device *device);

#endif
