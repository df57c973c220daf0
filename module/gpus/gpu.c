// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/device.h>
#include <linux/ratelimit.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "access/bar_finds.h"
#include "access/bus.h"
#include "access/device.h"
#include "chips/chips.h"
#include "control/lease.h"
#include "core/control.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "gpus/gpu.h"
#include "host/override_list.h"
#include "probe/modes.h"
#include "probe/probe.h"

/*
 * Return whether the bus alone identifies the GPU, as a GPU that must not be
 * accessed.
 */
static bool is_unsupported(struct nvdebug_device *device)
{
	const char *why = device->bus->unsupported(device);

	if (why)
		nvdebug_probe_reset(&device->gpu, why);
	return why;
}

/* Read the modes, and whether one of them closes the GPU. */
static void read_modes(struct nvdebug_device *device,
		       struct nvdebug_modes *modes)
{
	const char *closed = nvdebug_modes_read(&device->gpu, modes);

	/* A mode that was on may still be, if it cannot be read now. */
	if (closed || (modes->mig != NVDEBUG_MODE_UNKNOWN &&
		       modes->cc != NVDEBUG_MODE_UNKNOWN))
		WRITE_ONCE(device->closed, closed);
}

/*
 * Map and identify the GPU. @closed is the reason why it was closed before, or
 * NULL. -EAGAIN: it is suspended, assigned to user space or closed.
 */
static int gpu_probe(struct nvdebug_device *device, const char *closed)
{
	struct nvdebug_gpu *gpu = &device->gpu;
	int ret = nvdebug_gpu_begin(gpu);

	device->closed = closed;
	if (ret) {
		const char *why = NULL;

		if (nvdebug_device_why_busy(device, &why) || !why)
			why = "asleep until now";
		nvdebug_probe_reset(gpu, why);
		return -EAGAIN;
	}
	ret = nvdebug_device_map_registers(device);
	if (ret)
		goto err_reset;
	ret = nvdebug_probe_chip(gpu);
	if (ret)
		goto err_unmap;
	if (gpu->chip)
		read_modes(device, &gpu->modes);
	if (device->closed) {
		nvdebug_device_unmap_registers(device);
		nvdebug_probe_reset(gpu, device->closed);
		nvdebug_gpu_end(gpu);
		return -EAGAIN;
	}
	ret = nvdebug_probe_features(gpu);
	if (ret)
		goto err_unmap;
	device->identified = true;
	nvdebug_gpu_end(gpu);
	return 0;

err_unmap:
	nvdebug_device_unmap_registers(device);
err_reset:
	nvdebug_probe_reset(gpu, ret == -ENOMEM ? "no memory to look at it" :
						   "it does not answer");
	nvdebug_gpu_end(gpu);
	return ret;
}

/* Set the chip id from the bus, if it is known without an access. */
static void chip_id_hint(struct nvdebug_device *device)
{
	struct nvdebug_gpu *gpu = &device->gpu;
	const struct nvdebug_chip *chip;

	/* The GPU was probed, but a mode closes it. */
	if (gpu->id.chip)
		return;
	gpu->id.chip = device->bus->chip_id_hint(device);
	chip = nvdebug_chip_find(gpu->id.chip, &gpu->chip_name);
	gpu->generation = chip ? chip->generation : NULL;
}

static void device_free(struct kref *ref)
{
	struct nvdebug_device *device =
		container_of(ref, struct nvdebug_device, ref);

	nvdebug_gpu_destroy(&device->gpu);
	nvdebug_bar_finds_free(device->bar_finds);
	mutex_destroy(&device->life);
	put_device(device->dev);
	if (device->before)
		nvdebug_device_put(device->before);
	kfree(device);
}

void nvdebug_device_get(struct nvdebug_device *device)
{
	kref_get(&device->ref);
}

void nvdebug_device_put(struct nvdebug_device *device)
{
	kref_put(&device->ref, device_free);
}

struct nvdebug_device *nvdebug_device_create(const struct nvdebug_bus *bus,
					     struct device *dev)
{
	struct nvdebug_device *device = kzalloc(sizeof(*device), GFP_KERNEL);

	if (!device)
		return NULL;
	nvdebug_gpu_init(&device->gpu);
	kref_init(&device->ref);
	INIT_LIST_HEAD(&device->node);
	nvdebug_device_log_init(device);
	/*
	 * Probes are limited to one a second on average, without a line in the
	 * log about the others.
	 */
	ratelimit_state_init(&device->probe_ratelimit, 5 * HZ, 5);
	ratelimit_set_flags(&device->probe_ratelimit, RATELIMIT_MSG_ON_RELEASE);
	mutex_init(&device->life);
	init_completion(&device->withdrawn);
	init_rwsem(&device->hw_access);
	spin_lock_init(&device->name_lock);
	spin_lock_init(&device->own_lock);
	INIT_LIST_HEAD(&device->own);
	device->number = -1;
	device->bus = bus;
	device->dev = get_device(dev);
	return device;
}

int nvdebug_device_probe(struct nvdebug_device *device, const char *closed)
{
	int ret = 0;

	/*
	 * The device lock excludes driver changes: neither probe() nor remove()
	 * runs.
	 */
	nvdebug_device_note_driver(device, device->dev->driver,
				   device->dev->driver);
	device->bus->attach(device);

	if (!is_unsupported(device))
		ret = gpu_probe(device, closed);
	if (ret != -EAGAIN)
		return ret;
	chip_id_hint(device);
	return 0;
}

void nvdebug_device_read_modes(struct nvdebug_device *device)
{
	struct nvdebug_gpu *gpu = &device->gpu;
	struct nvdebug_modes modes;

	if (!device->identified || !gpu->chip)
		return;
	/*
	 * nvdebug_gpu_begin() fails for a GPU that is closed by a mode, and
	 * nvdebug_gpu_begin_undo() would wait for a driver change.
	 */
	if (READ_ONCE(device->changing) || nvdebug_gpu_begin_undo(gpu))
		return;
	if (!READ_ONCE(device->gone)) {
		read_modes(device, &modes);
		WRITE_ONCE(gpu->modes.mig, modes.mig);
		WRITE_ONCE(gpu->modes.cc, modes.cc);
	}
	nvdebug_gpu_end(gpu);
}

static void retire_overrides(struct nvdebug_device *device)
{
	struct nvdebug_gpu *gpu = &device->gpu;
	int error;

	/* Without an override list the GPU is left asleep. */
	if (!nvdebug_overrides_exist(gpu))
		return;
	error = nvdebug_device_begin_retire(device);
	nvdebug_overrides_retire(gpu, error);
	if (!error)
		nvdebug_gpu_end(gpu);
}

/* Undo all changes before a driver is bound or unbound. */
static void retire_changes(struct nvdebug_device *device)
{
	nvdebug_leases_end_all(&device->gpu);
	/* The driver change may change the IOMMU mappings of override lists. */
	retire_overrides(device);
}

void nvdebug_device_set_driver(struct nvdebug_device *device,
			       struct device_driver *driver, bool runs)
{
	nvdebug_device_change_driver(device, driver, runs, retire_changes);
}

/* Return whether @fresh has more to show than @device. */
static bool knows_more(const struct nvdebug_device *fresh,
		       const struct nvdebug_device *device)
{
	if (device->identified)
		return fresh->identified && fresh->gpu.gaps < device->gpu.gaps;
	return fresh->identified ||
	       strcmp(fresh->gpu.unsupported, device->gpu.unsupported);
}

bool nvdebug_device_replaces(struct nvdebug_device *fresh,
			     const struct nvdebug_device *device)
{
	if (!knows_more(fresh, device))
		return false;
	fresh->number = device->number;
	/* Bus mastering is still turned off when the driver is unbound. */
	fresh->dma_left_on = device->dma_left_on || device->started_dma;
	return true;
}

void nvdebug_device_retire(struct nvdebug_device *device)
{
	/*
	 * No access begins any more. Those in progress may still take leases or
	 * make override lists, so they end first.
	 */
	nvdebug_leases_end_all(&device->gpu);
	down_write(&device->hw_access);
	up_write(&device->hw_access);
	retire_overrides(device);
	/* A change of the driver may be under way: this waits for it. */
	down_write(&device->hw_access);
	nvdebug_device_unmap_registers(device);
	up_write(&device->hw_access);
}
