// SPDX-License-Identifier: MIT OR GPL-2.0
/* dev_*() prefixes the bound driver's name, so add the module's */
#define dev_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/device.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/pm_runtime.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "access/bus.h"
#include "access/device.h"
#include "core/control.h"
#include "core/machine.h"
#include "decode/register.h"
#include "hw/pmc.h"

/* Power. */

/* With device->hw_access read-held; released on failure. */
static int device_keep_awake(struct nvdebug_device *device)
{
	struct device *dev = device->dev;

	if (device->bus->is_user_space(device)) {
		up_read(&device->hw_access);
		return -EBUSY;
	}
	/*
	 * A reference without a resume prevents a suspend; the barrier waits
	 * for one in progress. The state is then stable until
	 * nvdebug_gpu_end().
	 */
	device->bus->hold(device);
	pm_runtime_get_noresume(dev);
	pm_runtime_barrier(dev);
	if (!pm_runtime_suspended(dev) && device->bus->is_awake(device))
		return 0;
	nvdebug_gpu_end(&device->gpu);
	return -ENODEV;
}

int nvdebug_gpu_begin_undo(struct nvdebug_gpu *gpu)
{
	struct nvdebug_device *device = nvdebug_device(gpu);

	down_read(&device->hw_access);
	return device_keep_awake(device);
}

int nvdebug_gpu_begin(struct nvdebug_gpu *gpu)
{
	struct nvdebug_device *device = nvdebug_device(gpu);
	int ret;

	if (down_read_killable(&device->hw_access))
		return -EINTR;
	ret = device_keep_awake(device);
	if (ret)
		return ret;
	if (READ_ONCE(device->gone))
		ret = -ENODEV;
	else if (READ_ONCE(device->closed))
		ret = -EBUSY;
	if (ret)
		nvdebug_gpu_end(gpu);
	return ret;
}

void nvdebug_gpu_end(struct nvdebug_gpu *gpu)
{
	struct nvdebug_device *device = nvdebug_device(gpu);

	/* not _noidle: a delayed suspend should happen now */
	pm_runtime_put(device->dev);
	device->bus->release(device);
	up_read(&device->hw_access);
}

bool nvdebug_gpu_is_leaving(const struct nvdebug_gpu *gpu)
{
	return READ_ONCE(nvdebug_device(gpu)->gone);
}

bool nvdebug_device_is_given_away(struct nvdebug_device *device)
{
	bool given;

	down_read(&device->hw_access);
	given = device->bus->is_user_space(device);
	up_read(&device->hw_access);
	return given;
}

int nvdebug_device_driver_name(struct nvdebug_device *device, char *name,
			       size_t size)
{
	if (down_read_killable(&device->hw_access))
		return -EINTR;
	/* the driver cannot be unbound while hw_access is held */
	strscpy(name, device->driver ? device->driver->name : "-", size);
	up_read(&device->hw_access);
	return 0;
}

/* Registers. */

/* All registers that any supported chip has are below this. */
#define BAR0_MIN_SIZE	SZ_16M

int nvdebug_device_map_registers(struct nvdebug_device *device)
{
	const struct resource *bar = device->bar[0];
	struct device *dev = device->dev;
	int ret;

	if (!bar || !bar->start) {
		dev_warn(dev, "no BAR0: left alone\n");
		return -ENODEV;
	}
	device->bar0_len = resource_size(bar);
	if (device->bar0_len < BAR0_MIN_SIZE) {
		dev_warn(dev, "BAR0 has only %pa bytes: left alone\n",
			 &device->bar0_len);
		return -ENODEV;
	}

	ret = device->bus->enable(device);
	if (ret) {
		dev_warn(dev, "cannot enable memory decoding (%d): left alone\n",
			 ret);
		return ret;
	}

	/* Not requested: the region belongs to the driver. */
	device->bar0 = ioremap(bar->start, device->bar0_len);
	if (!device->bar0) {
		dev_warn(dev, "cannot map BAR0: left alone\n");
		device->bus->disable(device);
		return -ENOMEM;
	}
	return 0;
}

void nvdebug_device_unmap_registers(struct nvdebug_device *device)
{
	if (device->bar0)
		iounmap(device->bar0);
	device->bar0 = NULL;
	device->bus->disable(device);
}

static bool is_register(const struct nvdebug_device *device, u32 offset)
{
	return !(offset & 3) && offset <= device->bar0_len - sizeof(u32);
}

u64 nvdebug_reg_bytes(const struct nvdebug_gpu *gpu)
{
	return nvdebug_device(gpu)->bar0_len;
}

int nvdebug_gpu_check_alive(struct nvdebug_gpu *gpu)
{
	return nvdebug_reg_value_check(readl(nvdebug_device(gpu)->bar0 +
					     NV_PMC_BOOT_0));
}

/* All ones: -ENODEV if the GPU is gone, -EIO if only this register. */
static int reg_diagnose_error(struct nvdebug_gpu *gpu, int error)
{
	int alive;

	if (error != -ENODEV)
		return error;
	alive = nvdebug_gpu_check_alive(gpu);
	return alive ? alive : -EIO;
}

int nvdebug_reg_read(struct nvdebug_gpu *gpu, u32 offset, u32 *value)
{
	return nvdebug_reg_read_address(gpu, offset, 0, value);
}

int nvdebug_reg_read_address(struct nvdebug_gpu *gpu, u32 offset, u32 bits,
			     u32 *value)
{
	struct nvdebug_device *device = nvdebug_device(gpu);
	int ret;

	if (!is_register(device, offset))
		return -EIO;
	*value = readl(device->bar0 + offset);
	ret = nvdebug_reg_value_check(*value);
	if (ret == -EIO && !(*value & ~bits))
		return 0;
	return ret ? reg_diagnose_error(gpu, ret) : 0;
}

/* Registers are read one by one, whatever is announced. */
void nvdebug_reg_expect(struct nvdebug_gpu *gpu, u32 offset)
{
}

void nvdebug_reg_write(struct nvdebug_gpu *gpu, u32 offset, u32 value)
{
	struct nvdebug_device *device = nvdebug_device(gpu);

	if (is_register(device, offset))
		writel(value, device->bar0 + offset);
}

/* The log. */

/* Per level. */
#define LINES		100
#define INTERVAL	(5 * HZ)

void nvdebug_device_log_init(struct nvdebug_device *device)
{
	ratelimit_state_init(&device->info_ratelimit, INTERVAL, LINES);
	ratelimit_state_init(&device->err_ratelimit, INTERVAL, LINES);
}

void nvdebug_info_ratelimit(struct nvdebug_gpu *gpu, const char *fmt, ...)
{
	struct nvdebug_device *device = nvdebug_device(gpu);
	struct va_format line = { .fmt = fmt };
	va_list args;

	if (!___ratelimit(&device->info_ratelimit, KBUILD_MODNAME))
		return;
	va_start(args, fmt);
	line.va = &args;
	dev_info(device->dev, "%pV", &line);
	va_end(args);
}

void nvdebug_err_ratelimit(struct nvdebug_gpu *gpu, const char *fmt, ...)
{
	struct nvdebug_device *device = nvdebug_device(gpu);
	struct va_format line = { .fmt = fmt };
	va_list args;

	if (!___ratelimit(&device->err_ratelimit, KBUILD_MODNAME))
		return;
	va_start(args, fmt);
	line.va = &args;
	dev_err(device->dev, "%pV", &line);
	va_end(args);
}

void nvdebug_warn(struct nvdebug_gpu *gpu, const char *fmt, ...)
{
	struct va_format line = { .fmt = fmt };
	va_list args;

	va_start(args, fmt);
	line.va = &args;
	dev_warn(nvdebug_device(gpu)->dev, "%pV", &line);
	va_end(args);
}
