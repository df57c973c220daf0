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
#include <linux/spinlock.h>
#include <linux/types.h>

#include "core/gpu.h"
#include "core/machine.h"

struct device;
struct device_driver;
struct nvdebug_bar_finds;
struct nvdebug_bus;
struct nvdebug_proc;
struct resource;

#define NVDEBUG_BARS	3	/* by NVIDIA's numbers: registers, FB, instance */

/* Memory of an override list, by the GPU's addresses. */
struct nvdebug_own_memory {
	struct list_head node;	/* in device->own */
	u64 addr;
	size_t bytes;
	phys_addr_t phys;	/* of addr when allocated */
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
	resource_size_t bar0_start;	/* of the mapping */
	resource_size_t bar0_len;
	bool enabled;			/* by bus->enable() */
	bool gone;			/* no hardware access may start */
	/* Why only modes may be read and state restored, or NULL. */
	const char *closed;

	struct ratelimit_state info_ratelimit;
	struct ratelimit_state warn_ratelimit;
	struct ratelimit_state err_ratelimit;
	struct ratelimit_state probe_ratelimit;	/* by opens of info */

	/*
	 * Read-held across hardware access, write-held to change the driver or
	 * the mapping of registers.
	 */
	struct rw_semaphore hw_access;
	bool changing;	/* the driver: no access may start, or go on */
	/* Under hw_access. From before the driver's probe to after its remove */
	struct device_driver *driver;
	bool driver_runs;	/* under hw_access: probed, not removed */
	spinlock_t name_lock;	/* of the copy of the name */
	char driver_name[32];	/* under name_lock, "-": none */
	u32 driver_changes;	/* under hw_access: counted */

	spinlock_t own_lock;	/* of the list below */
	struct list_head own;	/* under own_lock: nvdebug_own_memory */
	/* Under gpu.lock, see access/list_memory.c. */
	u32 lists;		/* override lists allocated */
	bool started_dma;	/* enabled for them */
	bool dma_left_on;	/* a driver may need it by now */

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
	int number;			/* of the directory, -1: none yet */

	bool wanted;	/* to be probed by a scan */
	bool put_off;	/* of the current scan: its lock was not free */
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
/* The driver's name, "-" without one. Does not wait. */
void nvdebug_device_driver_name(struct nvdebug_device *device, char *name,
				size_t size);
/*
 * As nvdebug_gpu_begin_undo(), but resumes a GPU that is suspended and has
 * power. -ENODEV only if it is off or gone, and so reads no memory.
 */
int __must_check nvdebug_device_begin_retire(struct nvdebug_device *device);
/*
 * Note the driver (NULL: none; @runs: between its probe and remove) of a device
 * that is not accessed now, with the device lock.
 */
void nvdebug_device_note_driver(struct nvdebug_device *device,
				struct device_driver *driver, bool runs);
/*
 * Set the driver, with the device lock. Ends accesses in progress and waits for
 * them. Registers that have moved are mapped anew before. @meanwhile runs first, when no
 * new access can start; it must leave no lease to be undone.
 */
void nvdebug_device_change_driver(struct nvdebug_device *device,
				  struct device_driver *driver, bool runs,
				  void (*meanwhile)(struct nvdebug_device *device));

int __must_check nvdebug_device_map_registers(struct nvdebug_device *device);
void nvdebug_device_unmap_registers(struct nvdebug_device *device);
/*
 * Map the registers anew if the kernel has moved BAR0; every access fails with
 * -ENODEV until then. Not between nvdebug_gpu_begin() and _end().
 */
void nvdebug_device_follow_registers(struct nvdebug_device *device);

void nvdebug_device_log_init(struct nvdebug_device *device);

#endif
