// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/device.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/ratelimit.h>
#include <linux/slab.h>
#include <linux/wait.h>

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

/* -EAGAIN: suspended, assigned to user space or closed. */
static int gpu_probe(struct nvdebug_device *device)
{
	struct nvdebug_gpu *gpu = &device->gpu;
	int ret = nvdebug_gpu_begin(gpu);
	const char *closed;

	if (ret) {
		const char *why = NULL;

		if (nvdebug_device_why_busy(device, &why) || !why)
			why = "asleep until now";
		nvdebug_probe_reset(gpu, why);
		return -EAGAIN;
	}
	ret = nvdebug_device_map_registers(device);
	if (ret)
		goto err_forget;
	ret = nvdebug_probe_chip(gpu, device->bus->unsupported(device));
	if (ret)
		goto err_unmap;
	closed = gpu->chip ? nvdebug_modes_read(gpu, &gpu->modes) : NULL;
	if (closed) {
		nvdebug_device_unmap_registers(device);
		nvdebug_probe_reset(gpu, closed);
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
err_forget:
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

	/* it was probed, but is closed by a mode */
	if (gpu->id.chip)
		return;
	gpu->id.chip = device->bus->chip_id_hint(device);
	if (!gpu->id.chip)
		return;
	chip = nvdebug_chip_find(gpu->id.chip, &gpu->chip_name);
	gpu->generation = chip ? chip->generation : NULL;
}

static void device_free(struct kref *ref)
{
	struct nvdebug_device *device =
		container_of(ref, struct nvdebug_device, ref);

	nvdebug_gpu_destroy(&device->gpu);
	nvdebug_bar_finds_free(device->bar_finds);
	mutex_destroy(&device->identity);
	put_device(device->dev);
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
	int ret;

	if (!device)
		return ERR_PTR(-ENOMEM);
	nvdebug_gpu_init(&device->gpu);
	kref_init(&device->ref);
	INIT_LIST_HEAD(&device->node);
	nvdebug_device_log_init(device);
	/* once a second on average; without a line about the rest */
	ratelimit_state_init(&device->identify_ratelimit, 5 * HZ, 5);
	ratelimit_set_flags(&device->identify_ratelimit,
			    RATELIMIT_MSG_ON_RELEASE);
	mutex_init(&device->identity);
	init_rwsem(&device->hw_access);
	init_waitqueue_head(&device->hw_access_ended);
	device->number = -1;
	device->probed_at = jiffies;
	device->bus = bus;
	device->dev = get_device(dev);
	/* the device lock excludes driver changes */
	device_lock_assert(dev);
	device->driver = dev->driver;
	device->driver_runs = dev->driver;
	bus->attach(device);

	ret = gpu_probe(device);
	if (ret && ret != -EAGAIN) {
		nvdebug_device_put(device);
		return ERR_PTR(ret);
	}
	if (ret)
		chip_id_hint(device);
	return device;
}

bool nvdebug_device_identify(struct nvdebug_device *device)
{
	int ret = -EALREADY;

	mutex_lock(&device->identity);
	if (!device->identified && __ratelimit(&device->identify_ratelimit))
		ret = gpu_probe(device);
	mutex_unlock(&device->identity);
	return !ret;
}

void nvdebug_device_read_modes(struct nvdebug_device *device)
{
	struct nvdebug_gpu *gpu = &device->gpu;

	mutex_lock(&device->identity);
	if (device->identified && gpu->chip && !nvdebug_gpu_begin_undo(gpu)) {
		if (!READ_ONCE(device->gone))
			WRITE_ONCE(device->closed,
				   nvdebug_modes_read(gpu, &gpu->modes));
		nvdebug_gpu_end(gpu);
	}
	mutex_unlock(&device->identity);
}

static void retire_overrides(struct nvdebug_device *device)
{
	struct nvdebug_gpu *gpu = &device->gpu;
	int error;

	/* without one the GPU is left asleep */
	if (!nvdebug_overrides_exist(gpu))
		return;
	error = nvdebug_device_begin_retire(device);
	nvdebug_overrides_retire(gpu, error);
	if (!error)
		nvdebug_gpu_end(gpu);
}

/* Before a driver is bound or unbound. */
static void retire_changes(struct nvdebug_device *device)
{
	nvdebug_leases_end_all(&device->gpu);
	/* the change may change the IOMMU mappings of override lists */
	retire_overrides(device);
}

void nvdebug_device_set_driver(struct nvdebug_device *device,
			       struct device_driver *driver, bool runs)
{
	nvdebug_device_change_driver(device, driver, runs, retire_changes);
}

bool nvdebug_device_replaces(struct nvdebug_device *fresh,
			     const struct nvdebug_device *device)
{
	if (!fresh->identified || fresh->gpu.gaps >= device->gpu.gaps)
		return false;
	fresh->number = device->number;
	/* bus mastering is turned off when the driver is unbound, as before */
	fresh->dma_left_on = device->dma_left_on || device->started_dma;
	return true;
}

void nvdebug_device_retire(struct nvdebug_device *device)
{
	WARN_ON_ONCE(device->proc);
	retire_overrides(device);
	/* a change of its driver may be under way, and wait for this */
	down_write(&device->hw_access);
	nvdebug_device_unmap_registers(device);
	up_write(&device->hw_access);
	wake_up(&device->hw_access_ended);
	nvdebug_device_put(device);
}
