// SPDX-License-Identifier: MIT OR GPL-2.0
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/idr.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>

#include "core/gpu.h"
#include "gpus/bus.h"
#include "gpus/gpus.h"
#include "proc/proc.h"

static const struct nvdebug_bus * const buses[] = {
	&nvdebug_bus_pci,
	&nvdebug_bus_platform,
};

/* One scan at a time. Outside of every lock of a bus. */
static DEFINE_MUTEX(scan_lock);
/* Of the scan that goes on: a GPU was left out that has no fault. */
static int scan_error;
/* Of the scan that goes on: does it take up GPUs that are not known? */
static bool scan_new;
/* Of the next one from the work queue. */
static atomic_t wanted_new = ATOMIC_INIT(0);
/* The GPUs that have a folder or are about to get one, in their order. */
static LIST_HEAD(gpus);
/* Inside of the locks of buses. */
static DEFINE_MUTEX(gpus_lock);
/* The numbers of the folders: always the lowest that is free. */
static DEFINE_IDA(numbers);
/* Under gpus_lock: the module goes, so no GPU is taken up any more. */
static bool leaving;

static struct nvdebug_gpu *find_gpu(const struct device *dev)
{
	struct nvdebug_gpu *gpu;

	lockdep_assert_held(&gpus_lock);
	list_for_each_entry(gpu, &gpus, node)
		if (gpu->dev == dev)
			return gpu;
	return NULL;
}

static bool is_before(const struct nvdebug_gpu *a, const struct nvdebug_gpu *b)
{
	if (a->bus != b->bus)
		return a->bus->rank < b->bus->rank;
	return a->bus->address(a->dev) < b->bus->address(b->dev);
}

static void insert_gpu(struct nvdebug_gpu *gpu)
{
	struct list_head *before = &gpus;
	struct nvdebug_gpu *other;

	lockdep_assert_held(&gpus_lock);
	list_for_each_entry(other, &gpus, node) {
		if (is_before(gpu, other)) {
			before = &other->node;
			break;
		}
	}
	list_add_tail(&gpu->node, before);
}

static void remove_gpu(struct nvdebug_gpu *gpu)
{
	lockdep_assert_held(&gpus_lock);
	list_del(&gpu->node);
	nvdebug_proc_remove(gpu);
	if (gpu->number >= 0)
		ida_free(&numbers, gpu->number);
	nvdebug_gpu_retire(gpu);
}

static void add_gpu(const struct nvdebug_bus *bus, struct device *dev)
{
	struct nvdebug_gpu *gpu = nvdebug_gpu_create(bus, dev);

	lockdep_assert_held(&gpus_lock);
	if (!IS_ERR(gpu))
		insert_gpu(gpu);
	else if (PTR_ERR(gpu) == -ENOMEM)
		scan_error = -ENOMEM;
}

/*
 * As if it had just been found. Who shows a GPU holds no lock that would keep
 * what is known of it as it is; so that does not change, but gets a successor.
 */
static void renew_gpu(struct nvdebug_gpu *gpu)
{
	struct nvdebug_gpu *fresh;

	lockdep_assert_held(&gpus_lock);
	fresh = nvdebug_gpu_create(gpu->bus, gpu->dev);
	if (IS_ERR(fresh))
		return;
	if (!nvdebug_gpu_succeeds(fresh, gpu)) {
		nvdebug_gpu_retire(fresh);
		return;
	}
	dev_info(gpu->dev, "tells more than before: /proc/gpu%d is made anew\n",
		 gpu->number);
	list_replace(&gpu->node, &fresh->node);
	nvdebug_proc_remove(gpu);
	nvdebug_gpu_retire(gpu);
}

void nvdebug_gpus_add(const struct nvdebug_bus *bus, struct device *dev)
{
	struct nvdebug_gpu *gpu;

	mutex_lock(&gpus_lock);
	gpu = find_gpu(dev);
	if (!gpu && scan_new && !leaving)
		add_gpu(bus, dev);
	else if (gpu && xchg(&gpu->look_again, false) && dev->driver)
		renew_gpu(gpu);
	mutex_unlock(&gpus_lock);
}

void nvdebug_gpus_remove(struct device *dev)
{
	struct nvdebug_gpu *gpu;

	mutex_lock(&gpus_lock);
	gpu = find_gpu(dev);
	if (gpu)
		remove_gpu(gpu);
	mutex_unlock(&gpus_lock);
}

void nvdebug_gpus_driver(struct device *dev, unsigned long event)
{
	struct device_driver *driver = dev->driver;
	struct nvdebug_gpu *gpu;
	bool runs = false;

	switch (event) {
	case BUS_NOTIFY_BOUND_DRIVER:
		runs = true;
		break;
	case BUS_NOTIFY_BIND_DRIVER:
	case BUS_NOTIFY_UNBIND_DRIVER:
		break;
	case BUS_NOTIFY_DRIVER_NOT_BOUND:
	case BUS_NOTIFY_UNBOUND_DRIVER:
		driver = NULL;
		break;
	default:
		return;
	}
	mutex_lock(&gpus_lock);
	gpu = find_gpu(dev);
	if (gpu)
		nvdebug_gpu_driver(gpu, driver, runs);
	if (gpu && runs)
		nvdebug_gpus_look_again(gpu);
	else if (runs)
		nvdebug_gpus_scan_later();
	mutex_unlock(&gpus_lock);
}

static int publish_gpu(struct nvdebug_gpu *gpu)
{
	if (gpu->number < 0)
		gpu->number = ida_alloc(&numbers, GFP_KERNEL);
	if (gpu->number < 0)
		return gpu->number;
	return nvdebug_proc_create(gpu, gpu->number);
}

static int publish_all(void)
{
	struct nvdebug_gpu *gpu, *next;
	int error, ret = 0;

	mutex_lock(&gpus_lock);
	list_for_each_entry_safe(gpu, next, &gpus, node) {
		if (gpu->proc)
			continue;
		error = publish_gpu(gpu);
		if (error) {
			remove_gpu(gpu);
			ret = error;
		}
	}
	mutex_unlock(&gpus_lock);
	return ret;
}

/*
 * Find the GPUs that are not known yet, if @new, and look again at those that
 * are to be looked at again. All of them are identified before the
 * first gets a number, so that at load numbers follow addresses. Those that
 * cannot be identified say so in the log, and are left out. Returns an error
 * if another could not get its folder.
 */
static int scan(bool new)
{
	size_t i;
	int ret;

	mutex_lock(&scan_lock);
	scan_error = 0;
	scan_new = new;
	for (i = 0; i < ARRAY_SIZE(buses); i++)
		buses[i]->scan();
	ret = publish_all();
	if (!ret)
		ret = scan_error;
	mutex_unlock(&scan_lock);
	return ret;
}

static void scan_from_work(struct work_struct *work)
{
	int ret = scan(atomic_xchg(&wanted_new, 0));

	if (ret)
		pr_err("not every GPU got its folder (%d)\n", ret);
}

static DECLARE_WORK(scan_work, scan_from_work);

void nvdebug_gpus_scan_later(void)
{
	atomic_set(&wanted_new, 1);
	schedule_work(&scan_work);
}

void nvdebug_gpus_look_again(struct nvdebug_gpu *gpu)
{
	if (!READ_ONCE(gpu->gaps))
		return;
	WRITE_ONCE(gpu->looked, jiffies);
	WRITE_ONCE(gpu->look_again, true);
	schedule_work(&scan_work);
}

static void report_none(void)
{
	mutex_lock(&gpus_lock);
	if (list_empty(&gpus))
		pr_info("no NVIDIA GPU here that can be shown; one that appears later gets a folder\n");
	mutex_unlock(&gpus_lock);
}

static void remove_all(void)
{
	struct nvdebug_gpu *gpu, *next;

	mutex_lock(&gpus_lock);
	leaving = true;
	list_for_each_entry_safe(gpu, next, &gpus, node)
		remove_gpu(gpu);
	mutex_unlock(&gpus_lock);
}

/*
 * The first @count buses have been told to report to us, and go on doing so as
 * long as there is a GPU: its device may leave the bus at any moment, and must
 * not be gone before we are done with it.
 */
static void stop(size_t count)
{
	remove_all();
	while (count--)
		buses[count]->unwatch();
	cancel_work_sync(&scan_work);
	ida_destroy(&numbers);
}

int nvdebug_gpus_start(void)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < ARRAY_SIZE(buses); i++)
		ret = buses[i]->watch();
	if (ret) {
		stop(i - 1);
		return ret;
	}
	ret = scan(true);
	if (ret)
		stop(ARRAY_SIZE(buses));
	else
		report_none();
	return ret;
}

void nvdebug_gpus_stop(void)
{
	stop(ARRAY_SIZE(buses));
}
