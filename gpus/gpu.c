// SPDX-License-Identifier: MIT OR GPL-2.0
/* the device's own prefix names its driver, which is somebody else */
#define dev_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitfield.h>
#include <linux/device.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/jiffies.h>
#include <linux/pm_runtime.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "access/report.h"
#include "chips/chips.h"
#include "core/gpu.h"
#include "gpus/bus.h"
#include "host/own_list.h"
#include "hw/pmc.h"
#include "state/instances.h"

/* All registers that any supported chip has are below this. */
#define BAR0_MIN_SIZE	SZ_16M

static int map_registers(struct nvdebug_gpu *gpu)
{
	const struct resource *bar = gpu->bar[0];
	struct device *dev = gpu->dev;
	int ret;

	if (!bar || !bar->start) {
		dev_warn(dev, "no BAR0: left alone\n");
		return -ENODEV;
	}
	gpu->bar0_len = resource_size(bar);
	if (gpu->bar0_len < BAR0_MIN_SIZE) {
		dev_warn(dev, "BAR0 has only %pa bytes: left alone\n",
			 &gpu->bar0_len);
		return -ENODEV;
	}

	ret = gpu->bus->enable(gpu);
	if (ret) {
		dev_warn(dev, "cannot enable memory decoding (%d): left alone\n",
			 ret);
		return ret;
	}

	/* Not requested: the region is its driver's, if it has one. */
	gpu->bar0 = ioremap(bar->start, gpu->bar0_len);
	if (!gpu->bar0) {
		dev_warn(dev, "cannot map BAR0: left alone\n");
		gpu->bus->disable(gpu);
		return -ENOMEM;
	}
	return 0;
}

static void unmap_registers(struct nvdebug_gpu *gpu)
{
	if (gpu->bar0)
		iounmap(gpu->bar0);
	gpu->bar0 = NULL;
	gpu->bus->disable(gpu);
}

static u32 read_raw(struct nvdebug_gpu *gpu, u32 offset)
{
	return readl(gpu->bar0 + offset);
}

static bool is_register(const struct nvdebug_gpu *gpu, u32 offset)
{
	return !(offset & 3) && offset <= gpu->bar0_len - sizeof(u32);
}

int nvdebug_gpu_check_alive(struct nvdebug_gpu *gpu)
{
	return nvdebug_reg_value_check(read_raw(gpu, NV_PMC_BOOT_0));
}

/* What it means that a register reads as @error says. */
static int diagnose(struct nvdebug_gpu *gpu, int error)
{
	int alive;

	if (error != -ENODEV)
		return error;
	/* all ones: of this register, or of everything? */
	alive = nvdebug_gpu_check_alive(gpu);
	return alive ? alive : -EIO;
}

int nvdebug_reg_read(struct nvdebug_gpu *gpu, u32 offset, u32 *value)
{
	int ret;

	if (!is_register(gpu, offset))
		return -EIO;
	*value = read_raw(gpu, offset);
	ret = nvdebug_reg_value_check(*value);
	return ret ? diagnose(gpu, ret) : 0;
}

int nvdebug_reg_read_address(struct nvdebug_gpu *gpu, u32 offset, u32 bits,
			     u32 *value)
{
	int ret;

	if (!is_register(gpu, offset))
		return -EIO;
	*value = read_raw(gpu, offset);
	ret = nvdebug_reg_value_check(*value);
	if (ret == -EIO && !(*value & ~bits))
		return 0;
	return ret ? diagnose(gpu, ret) : 0;
}

void nvdebug_reg_write(struct nvdebug_gpu *gpu, u32 offset, u32 value)
{
	if (is_register(gpu, offset))
		writel(value, gpu->bar0 + offset);
}

/* With gpu->reach held for reading, which is given up on failure. */
static int keep_awake(struct nvdebug_gpu *gpu)
{
	struct device *dev = gpu->dev;

	if (gpu->bus->is_user_space(gpu)) {
		up_read(&gpu->reach);
		return -EBUSY;
	}
	/*
	 * Taking a count without resuming keeps it from being suspended; the
	 * barrier waits for a suspend that is under way. After that the state
	 * is stable until nvdebug_gpu_end().
	 */
	gpu->bus->hold(gpu);
	pm_runtime_get_noresume(dev);
	pm_runtime_barrier(dev);
	if (!pm_runtime_suspended(dev) && gpu->bus->is_awake(gpu))
		return 0;
	nvdebug_gpu_end(gpu);
	return -ENODEV;
}

int nvdebug_gpu_begin_undo(struct nvdebug_gpu *gpu)
{
	down_read(&gpu->reach);
	return keep_awake(gpu);
}

int nvdebug_gpu_begin(struct nvdebug_gpu *gpu)
{
	int ret;

	if (down_read_killable(&gpu->reach))
		return -EINTR;
	ret = keep_awake(gpu);
	if (ret)
		return ret;
	if (READ_ONCE(gpu->gone))
		ret = -ENODEV;
	else if (READ_ONCE(gpu->closed))
		ret = -EBUSY;
	if (ret)
		nvdebug_gpu_end(gpu);
	return ret;
}

void nvdebug_gpu_end(struct nvdebug_gpu *gpu)
{
	/* not _noidle: a suspend that we held up should happen now */
	pm_runtime_put(gpu->dev);
	gpu->bus->release(gpu);
	up_read(&gpu->reach);
}

/* A register that the identity can do without. */
static u32 read_optional(struct nvdebug_gpu *gpu, u32 offset)
{
	u32 value;

	return nvdebug_reg_read(gpu, offset, &value) ? 0 : value;
}

static int identify(struct nvdebug_gpu *gpu)
{
	struct device *dev = gpu->dev;
	u32 boot0 = read_raw(gpu, NV_PMC_BOOT_0);
	int ret = nvdebug_reg_value_check(boot0);
	const char *why;

	if (ret) {
		dev_warn(dev, "BOOT_0 reads 0x%08x (%s): left alone\n", boot0,
			 ret == -ENODEV ? "off the bus or not decoding" :
					  "register bus error");
		return ret;
	}

	ret = nvdebug_chip_id_decode(boot0,
				     read_optional(gpu, NV_PMC_BOOT_42),
				     &gpu->id);
	if (ret) {
		gpu->unsupported = "BOOT_0 and BOOT_42 disagree";
	} else {
		gpu->chip = nvdebug_chip_find(gpu->id.chip, &gpu->chip_name);
		if (!gpu->chip)
			gpu->unsupported = "unknown chip";
	}
	if (gpu->chip)
		gpu->generation = gpu->chip->generation;

	why = gpu->bus->unsupported(gpu);
	if (nvdebug_boot1_is_virtual(read_optional(gpu, NV_PMC_BOOT_1)))
		why = "virtual function";
	if (why)
		gpu->unsupported = why;

	if (gpu->unsupported)
		gpu->chip = NULL;
	return 0;
}

/*
 * What of the chip can be used: the only place that decides on features. Fails
 * if that cannot be told now.
 */
static int survey(struct nvdebug_gpu *gpu)
{
	struct nvdebug_topology *topology = &gpu->topology;
	const struct nvdebug_channel_ops *channel;
	const char *why = gpu->unsupported;
	int i, ret;

	for (i = 0; i < NVDEBUG_FEATURES; i++)
		gpu->missing[i] = gpu->chip ? gpu->chip->missing[i] : why;
	if (!gpu->chip)
		return 0;

	channel = gpu->chip->channel;
	topology->channels = gpu->chip->channels;
	if (channel->count_reg) {
		u32 count = read_optional(gpu, channel->count_reg);

		/* more than the table of the chip holds cannot be */
		if (count && count <= gpu->chip->channels)
			topology->channels = count;
		else
			gpu->gaps++;
	}

	ret = gpu->chip->ptop->read(gpu, &why);
	if (ret == -ENOMEM)
		return ret;
	if (ret) {
		dev_warn(gpu->dev, "no device_info or runlists: %s\n", why);
		gpu->missing[NVDEBUG_FEATURE_DEVICE_INFO] = why;
		gpu->missing[NVDEBUG_FEATURE_RUNLIST] = why;
	} else if (!topology->runlists) {
		why = "no runlist in the device table";
		gpu->missing[NVDEBUG_FEATURE_RUNLIST] = why;
	}
	/* global ids can do without a runlist to name them by */
	if (channel->per_runlist)
		gpu->missing[NVDEBUG_FEATURE_CHANNEL_CONTROL] =
			gpu->missing[NVDEBUG_FEATURE_RUNLIST];

	gpu->missing[NVDEBUG_FEATURE_ENGINES] =
		gpu->missing[NVDEBUG_FEATURE_RUNLIST];
	gpu->missing[NVDEBUG_FEATURE_RUNLIST_CONTROL] =
		gpu->missing[NVDEBUG_FEATURE_RUNLIST];
	nvdebug_instances_survey(gpu);

	gpu->gaps += nvdebug_topology_gaps(topology);
	nvdebug_copy_topology_survey(gpu);
	nvdebug_geometry_survey(gpu);
	for (i = 0; i < topology->runlists; i++)
		if (nvdebug_runlist_prepare(gpu, &topology->runlist[i]))
			dev_warn(gpu->dev,
				 "runlist %u does not answer yet\n",
				 topology->runlist[i].id);
	return 0;
}

/* As if nobody had looked at it, for the reason @why. */
static void forget(struct nvdebug_gpu *gpu, const char *why)
{
	int i;

	nvdebug_topology_free(&gpu->topology);
	memset(&gpu->topology, 0, sizeof(gpu->topology));
	memset(&gpu->geometry, 0, sizeof(gpu->geometry));
	gpu->pce_map = 0;
	gpu->video_memory = 0;
	gpu->gaps = 0;
	gpu->chip = NULL;
	gpu->unsupported = why;
	for (i = 0; i < NVDEBUG_FEATURES; i++)
		gpu->missing[i] = why;
}

/* -EAGAIN: it sleeps, or is not ours. A failure leaves nothing behind. */
static int find_out(struct nvdebug_gpu *gpu)
{
	int ret = nvdebug_gpu_begin(gpu);
	const char *closed;

	if (ret) {
		forget(gpu, ret == -EBUSY ? NVDEBUG_GIVEN_AWAY :
					    "asleep until now");
		return -EAGAIN;
	}
	gpu->unsupported = NULL;
	ret = map_registers(gpu);
	if (ret)
		goto err_forget;
	ret = identify(gpu);
	if (ret)
		goto err_unmap;
	closed = gpu->chip ? nvdebug_modes_read(gpu, &gpu->modes) : NULL;
	if (closed) {
		unmap_registers(gpu);
		forget(gpu, closed);
		nvdebug_gpu_end(gpu);
		return -EAGAIN;
	}
	ret = survey(gpu);
	if (ret)
		goto err_unmap;
	gpu->identified = true;
	nvdebug_gpu_end(gpu);
	return 0;

err_unmap:
	unmap_registers(gpu);
err_forget:
	forget(gpu, ret == -ENOMEM ? "no memory to look at it" :
				     "it does not answer");
	nvdebug_gpu_end(gpu);
	return ret;
}

/* Which chip it is, without touching it, if the bus knows. */
static void presume(struct nvdebug_gpu *gpu)
{
	const struct nvdebug_chip *chip;

	/* or it was looked at, but a mode closes it */
	if (gpu->id.chip)
		return;
	gpu->id.chip = gpu->bus->presume(gpu);
	if (!gpu->id.chip)
		return;
	chip = nvdebug_chip_find(gpu->id.chip, &gpu->chip_name);
	gpu->generation = chip ? chip->generation : NULL;
}

static void gpu_free(struct kref *ref)
{
	struct nvdebug_gpu *gpu = container_of(ref, struct nvdebug_gpu, ref);

	nvdebug_topology_free(&gpu->topology);
	mutex_destroy(&gpu->lock);
	mutex_destroy(&gpu->identity);
	put_device(gpu->dev);
	kfree(gpu);
}

void nvdebug_gpu_get(struct nvdebug_gpu *gpu)
{
	kref_get(&gpu->ref);
}

void nvdebug_gpu_put(struct nvdebug_gpu *gpu)
{
	kref_put(&gpu->ref, gpu_free);
}

struct nvdebug_gpu *nvdebug_gpu_create(const struct nvdebug_bus *bus,
				       struct device *dev)
{
	struct nvdebug_gpu *gpu = kzalloc(sizeof(*gpu), GFP_KERNEL);
	int ret;

	if (!gpu)
		return ERR_PTR(-ENOMEM);
	kref_init(&gpu->ref);
	INIT_LIST_HEAD(&gpu->node);
	INIT_LIST_HEAD(&gpu->own_lists);
	mutex_init(&gpu->lock);
	nvdebug_log_init(gpu);
	mutex_init(&gpu->identity);
	init_rwsem(&gpu->reach);
	gpu->number = -1;
	gpu->looked = jiffies;
	gpu->bus = bus;
	gpu->dev = get_device(dev);
	/* the device's lock keeps a driver from being bound or unbound */
	device_lock_assert(dev);
	gpu->driver = dev->driver;
	gpu->driver_runs = dev->driver;
	bus->attach(gpu);

	ret = find_out(gpu);
	if (ret && ret != -EAGAIN) {
		nvdebug_gpu_put(gpu);
		return ERR_PTR(ret);
	}
	if (ret)
		presume(gpu);
	return gpu;
}

bool nvdebug_gpu_identify(struct nvdebug_gpu *gpu)
{
	int ret = -EALREADY;

	mutex_lock(&gpu->identity);
	if (!gpu->identified)
		ret = find_out(gpu);
	mutex_unlock(&gpu->identity);
	return !ret;
}

void nvdebug_gpu_look_at_modes(struct nvdebug_gpu *gpu)
{
	mutex_lock(&gpu->identity);
	if (gpu->identified && gpu->chip && !nvdebug_gpu_begin_undo(gpu)) {
		if (!READ_ONCE(gpu->gone))
			WRITE_ONCE(gpu->closed,
				   nvdebug_modes_read(gpu, &gpu->modes));
		nvdebug_gpu_end(gpu);
	}
	mutex_unlock(&gpu->identity);
}

static void retire_lists(struct nvdebug_gpu *gpu)
{
	bool awake = !nvdebug_gpu_begin_undo(gpu);

	nvdebug_own_lists_retire(gpu, awake);
	if (awake)
		nvdebug_gpu_end(gpu);
}

void nvdebug_gpu_driver(struct nvdebug_gpu *gpu,
			struct device_driver *driver, bool runs)
{
	/* their memory is of the device as it is with the driver it has */
	retire_lists(gpu);
	down_write(&gpu->reach);
	gpu->driver = driver;
	gpu->driver_runs = runs;
	gpu->bus->driver_changed(gpu);
	up_write(&gpu->reach);
}

bool nvdebug_gpu_succeeds(struct nvdebug_gpu *fresh,
			  const struct nvdebug_gpu *gpu)
{
	if (!fresh->identified || fresh->gaps >= gpu->gaps)
		return false;
	fresh->number = gpu->number;
	/* what it turned on goes off with the driver, as it would have */
	fresh->dma_left_on = gpu->dma_left_on || gpu->started_dma;
	return true;
}

bool nvdebug_gpu_is_given_away(struct nvdebug_gpu *gpu)
{
	bool given;

	down_read(&gpu->reach);
	given = gpu->bus->is_user_space(gpu);
	up_read(&gpu->reach);
	return given;
}

int nvdebug_gpu_driver_name(struct nvdebug_gpu *gpu, char *name, size_t size)
{
	if (down_read_killable(&gpu->reach))
		return -EINTR;
	/* until reach is given up it does not go, nor does its name */
	strscpy(name, gpu->driver ? gpu->driver->name : "-", size);
	up_read(&gpu->reach);
	return 0;
}

void nvdebug_gpu_retire(struct nvdebug_gpu *gpu)
{
	WARN_ON_ONCE(gpu->proc);
	retire_lists(gpu);
	unmap_registers(gpu);
	nvdebug_gpu_put(gpu);
}
