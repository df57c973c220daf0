// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * The prefix of dev_*() is the bound driver's name, so the module's is added.
 */
#define dev_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/device.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/pm_runtime.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "access/bus.h"
#include "access/device.h"
#include "core/control.h"
#include "core/machine.h"
#include "decode/register.h"
#include "hw/pmc.h"

/* The mapping of registers. */

/* Every register of a supported chip is below this offset. */
#define BAR0_MIN_SIZE	SZ_16M

int nvdebug_device_map_registers(struct nvdebug_device *device)
{
	const struct resource *bar = device->bar[0];
	struct nvdebug_gpu *gpu = &device->gpu;
	int ret;

	if (!bar || !bar->start) {
		nvdebug_warn_ratelimit(gpu, "no BAR0: left alone\n");
		return -ENODEV;
	}
	device->bar0_len = resource_size(bar);
	if (device->bar0_len < BAR0_MIN_SIZE) {
		nvdebug_warn_ratelimit(gpu,
				       "BAR0 has only %pa bytes: left alone\n",
				       &device->bar0_len);
		return -ENODEV;
	}

	ret = device->bus->enable(device);
	if (ret) {
		nvdebug_warn_ratelimit(gpu,
				       "cannot enable memory decoding (%d): left alone\n",
				       ret);
		return ret;
	}

	/* The region is not requested, because it belongs to the driver. */
	device->bar0 = ioremap(bar->start, device->bar0_len);
	if (!device->bar0) {
		nvdebug_warn_ratelimit(gpu, "cannot map BAR0: left alone\n");
		device->bus->disable(device);
		return -ENOMEM;
	}
	device->bar0_start = bar->start;
	return 0;
}

void nvdebug_device_unmap_registers(struct nvdebug_device *device)
{
	if (device->bar0)
		iounmap(device->bar0);
	device->bar0 = NULL;
	device->bus->disable(device);
}

/*
 * Return whether BAR0 has moved since it was mapped. The module does not own
 * the region. While no driver requests it, the kernel moves it as it likes, for
 * example when another BAR is resized (resourceN_resize), and gives the old
 * place to another device.
 */
static bool device_registers_moved(const struct nvdebug_device *device)
{
	const struct resource *bar = device->bar[0];

	return device->bar0 &&
	       (READ_ONCE(bar->start) != device->bar0_start ||
		READ_ONCE(bar->end) != device->bar0_start + device->bar0_len - 1 ||
		READ_ONCE(bar->flags) & (IORESOURCE_UNSET | IORESOURCE_DISABLED));
}

/*
 * Map the registers at @bar, a copy of their resource that was made with the
 * device lock held. The old mapping is not used again until that succeeds.
 */
static void device_map_anew(struct nvdebug_device *device,
			    const struct resource *bar)
{
	void __iomem *fresh;

	lockdep_assert_held_write(&device->hw_access);
	if (!device->bar0 || !bar->start ||
	    bar->flags & (IORESOURCE_UNSET | IORESOURCE_DISABLED) ||
	    resource_size(bar) < BAR0_MIN_SIZE)
		return;
	fresh = ioremap(bar->start, resource_size(bar));
	if (!fresh)
		return;
	iounmap(device->bar0);
	device->bar0 = fresh;
	device->bar0_start = bar->start;
	device->bar0_len = resource_size(bar);
	nvdebug_info_ratelimit(&device->gpu, "BAR0 has moved to %pa\n",
			       &device->bar0_start);
}

void nvdebug_device_follow_registers(struct nvdebug_device *device)
{
	struct resource bar;

	/*
	 * A driver change maps the registers itself. A task that moves BAR0
	 * holds the device lock, so the lock is only tried.
	 */
	if (!device_registers_moved(device) || READ_ONCE(device->changing) ||
	    !device_trylock(device->dev))
		return;
	bar = *device->bar[0];
	device_unlock(device->dev);
	if (down_write_killable(&device->hw_access))
		return;
	device_map_anew(device, &bar);
	up_write(&device->hw_access);
}

/*
 * Map registers that have moved, with the device lock held. This comes before
 * leases are undone, which write to the registers at their present place.
 */
static void device_follow_locked(struct nvdebug_device *device)
{
	device_lock_assert(device->dev);
	if (!device_registers_moved(device))
		return;
	down_write(&device->hw_access);
	device_map_anew(device, device->bar[0]);
	up_write(&device->hw_access);
}

/* The driver. */

/*
 * Drivers that hand a device to user space or a guest without managing its DMA:
 * Linux drivers/xen/xen-pciback, drivers/uio, and DPDK's igb_uio. pci-stub keeps
 * a device for a guest, and has a flag for that from 5.19 on.
 */
static const char * const foreign_drivers[] = {
	"pciback", "pci-stub", "uio_pci_generic", "igb_uio",
	"uio_pdrv_genirq", "uio_dmem_genirq",
};

bool nvdebug_device_is_assigned(const struct nvdebug_device *device)
{
	struct device_driver *driver = READ_ONCE(device->driver);

	return driver && (device->bus->is_user_space(driver) ||
			  match_string(foreign_drivers,
				       ARRAY_SIZE(foreign_drivers),
				       driver->name) >= 0);
}

static const char changing[] = "a driver is being bound or unbound";

static const char *device_why_busy(const struct nvdebug_device *device)
{
	lockdep_assert_held(&device->hw_access);
	if (nvdebug_device_is_assigned(device))
		return "given to a program or virtual machine";
	if (device->driver && !device->driver_runs)
		return changing;
	return NULL;
}

/*
 * Files that every user may open call this. While the driver changes they get
 * an answer without the lock, because opening them must not keep the change
 * waiting.
 */
int nvdebug_device_why_busy(struct nvdebug_device *device, const char **why)
{
	*why = changing;
	if (READ_ONCE(device->changing))
		return 0;
	if (down_read_killable(&device->hw_access))
		return -EINTR;
	*why = device_why_busy(device);
	up_read(&device->hw_access);
	return 0;
}

void nvdebug_device_driver_name(struct nvdebug_device *device, char *name,
				size_t size)
{
	spin_lock(&device->name_lock);
	strscpy(name, device->driver_name, size);
	spin_unlock(&device->name_lock);
}

void nvdebug_device_note_driver(struct nvdebug_device *device,
				struct device_driver *driver, bool runs)
{
	device_lock_assert(device->dev);
	WRITE_ONCE(device->driver, driver);
	device->driver_runs = runs;
	spin_lock(&device->name_lock);
	strscpy(device->driver_name, driver ? driver->name : "-",
		sizeof(device->driver_name));
	spin_unlock(&device->name_lock);
}

/*
 * After @meanwhile no lease is left to be undone, so later readers can wait in
 * the queue of hw_access behind this function. The function itself waits for
 * earlier readers only.
 */
void nvdebug_device_change_driver(struct nvdebug_device *device,
				  struct device_driver *driver, bool runs,
				  void (*meanwhile)(struct nvdebug_device *device))
{
	WRITE_ONCE(device->changing, true);
	device_follow_locked(device);
	meanwhile(device);
	down_write(&device->hw_access);
	nvdebug_device_note_driver(device, driver, runs);
	device->bus->driver_changed(device);
	device->driver_changes++;
	WRITE_ONCE(device->changing, false);
	up_write(&device->hw_access);
}

/* Power. */

/*
 * Keep the device from suspending. Called with device->hw_access read-held; the
 * function releases it on failure.
 */
static int device_keep_awake(struct nvdebug_device *device)
{
	struct device *dev = device->dev;

	if (device_why_busy(device)) {
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
	if (!pm_runtime_suspended(dev) && device->bus->is_awake(device) &&
	    !device_registers_moved(device))
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

int nvdebug_device_begin_retire(struct nvdebug_device *device)
{
	int ret = nvdebug_gpu_begin_undo(&device->gpu);

	if (ret != -ENODEV || !device->bus->is_on(device))
		return ret;
	ret = pm_runtime_get_sync(device->dev);
	if (ret >= 0)
		ret = nvdebug_gpu_begin_undo(&device->gpu);
	pm_runtime_put(device->dev);
	return ret == -ENODEV && device->bus->is_on(device) ? -EIO : ret;
}

int nvdebug_gpu_begin(struct nvdebug_gpu *gpu)
{
	struct nvdebug_device *device = nvdebug_device(gpu);
	int ret;

	if (READ_ONCE(device->changing))
		return -EBUSY;
	if (down_read_killable(&device->hw_access))
		return -EINTR;
	/* Files may outlive the device. */
	if (READ_ONCE(device->gone)) {
		up_read(&device->hw_access);
		return -ENODEV;
	}
	ret = device_keep_awake(device);
	if (ret)
		return ret;
	if (!READ_ONCE(device->closed))
		return 0;
	nvdebug_gpu_end(gpu);
	return -EBUSY;
}

void nvdebug_gpu_end(struct nvdebug_gpu *gpu)
{
	struct nvdebug_device *device = nvdebug_device(gpu);

	/* This is not _noidle, because a delayed suspend should happen now. */
	pm_runtime_put(device->dev);
	device->bus->release(device);
	up_read(&device->hw_access);
}

int nvdebug_gpu_check_stop(const struct nvdebug_gpu *gpu)
{
	const struct nvdebug_device *device = nvdebug_device(gpu);

	if (fatal_signal_pending(current))
		return -EINTR;
	if (READ_ONCE(device->gone))
		return -ENODEV;
	return READ_ONCE(device->changing) ? -ECANCELED : 0;
}

/* Access to registers. */

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

/*
 * Tell a lost GPU from a lost register: a read gave all ones. Returns -ENODEV
 * if the GPU is gone, -EIO if only this register does not answer.
 */
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

/* Announcing has no effect: registers are read one by one. */
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

/* Limit of the log for each level. */
#define LINES		100
#define INTERVAL	(5 * HZ)

void nvdebug_device_log_init(struct nvdebug_device *device)
{
	ratelimit_state_init(&device->info_ratelimit, INTERVAL, LINES);
	ratelimit_state_init(&device->warn_ratelimit, INTERVAL, LINES);
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

void nvdebug_warn_ratelimit(struct nvdebug_gpu *gpu, const char *fmt, ...)
{
	struct nvdebug_device *device = nvdebug_device(gpu);
	struct va_format line = { .fmt = fmt };
	va_list args;

	if (!___ratelimit(&device->warn_ratelimit, KBUILD_MODNAME))
		return;
	va_start(args, fmt);
	line.va = &args;
	dev_warn(device->dev, "%pV", &line);
	va_end(args);
}
