/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * One GPU: its BARs, its identity, its registers, its life.
 *
 * Life: nvdebug_gpu_create() maps and identifies, nvdebug_gpu_retire() ends
 * every access to the hardware, and the memory goes with the last reference.
 * Registers are only touched between nvdebug_gpu_begin() and _end(), and that
 * only at creation and inside an open, write or close of one of the GPU's
 * files. Retiring removes the files first; procfs waits for calls into them to
 * finish and closes those that are open, so none can be inside when the
 * mapping goes. No reader has to lock anything for that.
 */
#ifndef NVDEBUG_GPU_H
#define NVDEBUG_GPU_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/ratelimit_types.h>
#include <linux/rwsem.h>
#include <linux/types.h>

#include "decode/chip_id.h"
#include "device_info.h"
#include "probe/modes.h"
#include "views/gpc_topology.h"

struct device;
struct device_driver;
struct nvdebug_bus;
struct nvdebug_chip;
struct nvdebug_proc;
struct resource;

enum nvdebug_feature {
	NVDEBUG_FEATURE_DEVICE_INFO,
	NVDEBUG_FEATURE_RUNLIST,
	NVDEBUG_FEATURE_CHANNEL_CONTROL,
	NVDEBUG_FEATURE_COPY_TOPOLOGY,
	NVDEBUG_FEATURE_ENGINES,
	NVDEBUG_FEATURE_CONTEXTS,
	NVDEBUG_FEATURE_CONTEXT_STATE,
	NVDEBUG_FEATURE_RUNLIST_CONTROL,
	NVDEBUG_FEATURE_GPC_TOPOLOGY,
	NVDEBUG_FEATURE_WORK_DISTRIBUTOR,
	NVDEBUG_FEATURE_PREEMPTION_MODE,
	NVDEBUG_FEATURES
};

#define NVDEBUG_BARS	3	/* by NVIDIA's numbers: registers, FB, instance */

struct nvdebug_gpu {
	struct kref ref;
	struct list_head node;		/* in the order of numbers */
	const struct nvdebug_bus *bus;
	struct device *dev;
	const struct resource *bar[NVDEBUG_BARS];	/* NULL: not there */
	void __iomem *bar0;
	resource_size_t bar0_len;
	bool enabled;			/* the bus did something for us */
	bool dma_left_on;		/* by us, as a driver may need it */
	bool gone;			/* no hardware access may start */
	/* Why none may but to look at modes or put something back, or NULL. */
	const char *closed;

	/* Requests may be many, lines in the log may not; see report.h. */
	struct ratelimit_state said;
	struct ratelimit_state complained;

	/*
	 * For reading while the hardware is touched; for writing when another
	 * driver is bound or unbound, which so waits for who touches it.
	 */
	struct rw_semaphore reach;
	/* Under reach. The driver from before its probe to after its remove */
	struct device_driver *driver;
	bool driver_runs;	/* under reach: between the two */

	/*
	 * Serialises what shares state in the hardware or is not one access:
	 * the PRAMIN window, changes to channels, late runlist set-up.
	 */
	struct mutex lock;
	struct list_head own_lists;	/* under the lock, see own_list.h */
	u64 own_lists_made;		/* under the lock: ever */
	bool started_dma;		/* for them */

	/*
	 * What follows is set when the GPU is identified, and does not change
	 * then: at creation, or under this lock, of a GPU that slept.
	 */
	struct mutex identity;
	bool identified;
	struct nvdebug_chip_id id;
	const struct nvdebug_chip *chip;	/* NULL: identity only */
	const char *chip_name;			/* NULL: unknown */
	const char *generation;			/* NULL: unknown */
	const char *missing[NVDEBUG_FEATURES];	/* why not, NULL: there */
	const char *unsupported;		/* why identity only, or NULL */
	struct nvdebug_modes modes;		/* as last looked at */
	struct nvdebug_topology topology;
	u32 pce_map;
	struct nvdebug_geometry geometry;
	u64 video_memory;			/* bytes, 0: unknown */
	/* What did not answer, and may once a driver has set the GPU up. */
	u32 gaps;

	struct nvdebug_proc *proc;	/* NULL: no folder */
	int number;			/* of the folder, -1: none yet */
	/* Of a GPU with gaps, see nvdebug_gpus_look_again(). */
	bool look_again;
	unsigned long looked;		/* jiffies */
};

/*
 * Map and identify the GPU behind @dev. Says in the log why, if it cannot. One
 * that sleeps, or that programs drive, is identified later.
 */
struct nvdebug_gpu *nvdebug_gpu_create(const struct nvdebug_bus *bus,
				       struct device *dev);
/* After nvdebug_proc_remove(). Drops the creator's reference. */
void nvdebug_gpu_retire(struct nvdebug_gpu *gpu);
/*
 * If it slept until now and is awake, identify it. Returns true if it was not
 * identified before, and is now.
 */
bool nvdebug_gpu_identify(struct nvdebug_gpu *gpu);
/*
 * Wait for who touches it, and note its driver: NULL if there is none, @runs
 * between its probe and its remove. From the bus's notifier alone, with the
 * device's lock held.
 */
void nvdebug_gpu_driver(struct nvdebug_gpu *gpu,
			struct device_driver *driver, bool runs);
/*
 * Found anew while a driver is bound: does @fresh tell more than @gpu? If so it
 * takes the place of @gpu, which is to be retired.
 */
bool nvdebug_gpu_succeeds(struct nvdebug_gpu *fresh,
			  const struct nvdebug_gpu *gpu);
/* Does its driver let programs drive it? Then it is not touched. */
bool nvdebug_gpu_is_given_away(struct nvdebug_gpu *gpu);
/*
 * Look at its modes, if it is identified and awake. One that leaves it to
 * others closes it, until it is looked at again.
 */
void nvdebug_gpu_look_at_modes(struct nvdebug_gpu *gpu);
#define NVDEBUG_GIVEN_AWAY	"given to a program or virtual machine"
/* The driver's name, "-" without one. -EINTR */
int __must_check nvdebug_gpu_driver_name(struct nvdebug_gpu *gpu, char *name,
					 size_t size);
void nvdebug_gpu_get(struct nvdebug_gpu *gpu);
void nvdebug_gpu_put(struct nvdebug_gpu *gpu);

/*
 * Keep the GPU from falling asleep, and gpu->driver as it is, until
 * nvdebug_gpu_end(). Never wakes it: -ENODEV if it sleeps or has gone, -EBUSY
 * if its driver lets programs drive it or a mode closes it. Waits while a
 * driver is bound or unbound, -EINTR if that is cut short. Ends in the task
 * that began it, and is not begun twice: a driver may wait in between.
 */
int __must_check nvdebug_gpu_begin(struct nvdebug_gpu *gpu);
/* The same to put something back: heeds no signal, nor that the files go. */
int __must_check nvdebug_gpu_begin_undo(struct nvdebug_gpu *gpu);
void nvdebug_gpu_end(struct nvdebug_gpu *gpu);

/*
 * Read a register. -EIO if the register bus answers with an error or the
 * register is not in BAR0, -ENODEV if the whole GPU reads as all ones.
 */
int __must_check nvdebug_reg_read(struct nvdebug_gpu *gpu, u32 offset,
				  u32 *value);
/*
 * The same for a register that may hold any address: what looks like an error
 * code is data if none but @bits are set. The caller must read another
 * register of the same block, which vouches for this one.
 */
int __must_check nvdebug_reg_read_address(struct nvdebug_gpu *gpu, u32 offset,
					  u32 bits, u32 *value);
void nvdebug_reg_write(struct nvdebug_gpu *gpu, u32 offset, u32 value);

/* Is it still there? 0, -ENODEV or -EIO; one register read. */
int __must_check nvdebug_gpu_check_alive(struct nvdebug_gpu *gpu);

#endif
