/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The kernel device of a GPU: BARs, driver, power. The core only uses the
 * embedded struct nvdebug_gpu.
 *
 * Registers are only accessed between nvdebug_gpu_begin() and _end(), during
 * probe or inside open, write or release of one of the GPU's files. Before the
 * mapping is removed, no access can begin any more and the accesses in progress
 * have ended.
 */
#ifndef NVDEBUG_ACCESS_DEVICE_H
#define NVDEBUG_ACCESS_DEVICE_H

#include <linux/completion.h>
#include <linux/kernel.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/ratelimit_types.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "core/gpu.h"
#include "core/machine.h"

struct device;
struct device_driver;
struct nvdebug_bar_finds;
struct nvdebug_bus;
struct nvdebug_proc;
struct resource;

#define NVDEBUG_BARS	3	/* by NVIDIA's numbers: registers, FB, instance */

/* Memory of an override list, by the address that the GPU uses. */
struct nvdebug_own_memory {
	struct list_head node;	/* in device->own */
	u64 addr;
	size_t bytes;
	phys_addr_t phys;	/* physical address of addr at the allocation */
};

struct nvdebug_device {
	struct nvdebug_gpu gpu;
	struct kref ref;
	struct list_head node;		/* in the list of GPUs */
	const struct nvdebug_bus *bus;
	struct device *dev;
	const struct resource *bar[NVDEBUG_BARS];	/* NULL: none */
	struct nvdebug_bar_finds *bar_finds;	/* see nvdebug_bars_init() */
	void __iomem *bar0;
	/* The place that the registers are mapped from. */
	resource_size_t bar0_start;
	resource_size_t bar0_len;
	bool enabled;			/* bus->enable() has enabled it */
	bool gone;			/* no hardware access may start */
	/* The reason if only modes may be read and state restored, or NULL. */
	const char *closed;

	struct ratelimit_state info_ratelimit;
	struct ratelimit_state warn_ratelimit;
	struct ratelimit_state err_ratelimit;
	/* Limits probes when info is opened. */
	struct ratelimit_state probe_ratelimit;

	/*
	 * Read-held across hardware access, write-held to change the driver or
	 * the mapping of registers.
	 */
	struct rw_semaphore hw_access;
	/* The driver is changing: no access may start, or go on. */
	bool changing;
	/*
	 * Under hw_access. Set from before the driver's probe until after its
	 * remove.
	 */
	struct device_driver *driver;
	bool driver_runs;	/* under hw_access: between probe and remove */
	spinlock_t name_lock;	/* protects driver_name */
	char driver_name[32];	/* under name_lock; "-": no driver */
	u32 driver_changes;	/* under hw_access: number of changes */

	spinlock_t own_lock;	/* protects the list below */
	struct list_head own;	/* under own_lock: nvdebug_own_memory */
	/* Under gpu.lock; access/list_memory.c uses these. */
	u32 lists;		/* override lists allocated */
	bool started_dma;	/* the module enabled DMA for these lists */
	bool dma_left_on;	/* DMA stays on, since a driver may need it */

	/*
	 * Serialises probe, publication and removal. Inside of the device's
	 * lock. gpu is constant after the probe, but for its modes.
	 */
	struct mutex life;
	bool probed;
	bool identified;
	bool published;
	bool removed;
	struct nvdebug_proc *proc;	/* NULL: no directory */
	/* Removes the directory. Waits for users, so it holds no lock. */
	struct work_struct withdraw;
	struct completion withdrawn;
	/* GPU whose directory with the same number goes first, or NULL. */
	struct nvdebug_device *before;
	/* The number of the directory, -1 before it has one or after it gave it on. */
	int number;

	bool wanted;	/* a scan shall probe the GPU */
	/* The current scan left it out, since its lock was not free. */
	bool put_off;
};

static inline struct nvdebug_device *
nvdebug_device(const struct nvdebug_gpu *gpu)
{
	return container_of(gpu, struct nvdebug_device, gpu);
}

/*
 * Return whether the driver hands the device to user space or a guest. Called
 * with hw_access held.
 */
bool nvdebug_device_is_assigned(const struct nvdebug_device *device);
/*
 * Set *@why to the reason why the device may not be accessed now (it is given
 * away, or probe() or remove() of a driver runs), or to NULL. Fails with
 * -EINTR.
 */
int __must_check nvdebug_device_why_busy(struct nvdebug_device *device,
					 const char **why);
/* Copy the driver's name, "-" without a driver. Does not wait. */
void nvdebug_device_driver_name(struct nvdebug_device *device, char *name,
				size_t size);
/*
 * Do the same as nvdebug_gpu_begin_undo(), but also resume a GPU that is
 * suspended and has power. Returns -ENODEV only if the GPU is off or gone, and
 * so reads no memory.
 */
int __must_check nvdebug_device_begin_retire(struct nvdebug_device *device);
/*
 * Note the driver of a device that is not accessed now. Called with the device
 * lock held. NULL: no driver; @runs: between its probe and remove.
 */
void nvdebug_device_note_driver(struct nvdebug_device *device,
				struct device_driver *driver, bool runs);
/*
 * Set the driver; called with the device lock held. Ends accesses in progress
 * and waits for them. Registers that have moved are mapped at their new place
 * before. @meanwhile runs first, when no new access can start; it must leave no
 * lease to be undone.
 */
void nvdebug_device_change_driver(struct nvdebug_device *device,
				  struct device_driver *driver, bool runs,
				  void (*meanwhile)(struct nvdebug_device *device));

int __must_check nvdebug_device_map_registers(struct nvdebug_device *device);
void nvdebug_device_unmap_registers(struct nvdebug_device *device);
/*
 * Map the registers at their new place if the kernel has moved BAR0; every
 * access fails with -ENODEV until then. Not called between nvdebug_gpu_begin()
 * and _end().
 */
void nvdebug_device_follow_registers(struct nvdebug_device *device);

void nvdebug_device_log_init(struct nvdebug_device *device);

#endif
