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

#include "access/bus.h"
#include "access/device.h"
#include "gpus/gpu.h"
#include "gpus/gpus.h"

static const struct nvdebug_bus * const buses[] = {
	&nvdebug_bus_pci,
	&nvdebug_bus_platform,
};

static const struct nvdebug_publisher *publisher;

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

static struct nvdebug_device *find_device(const struct device *dev)
{
	struct nvdebug_device *device;

	lockdep_assert_held(&gpus_lock);
	list_for_each_entry(device, &gpus, node)
		if (device->dev == dev)
			return device;
	return NULL;
}

static bool is_before(const struct nvdebug_device *a, const struct nvdebug_device *b)
{
	if (a->bus != b->bus)
		return a->bus->rank < b->bus->rank;
	return a->bus->address(a->dev) < b->bus->address(b->dev);
}

static void insert_device(struct nvdebug_device *device)
{
	struct list_head *before = &gpus;
	struct nvdebug_device *other;

	lockdep_assert_held(&gpus_lock);
	list_for_each_entry(other, &gpus, node) {
		if (is_before(device, other)) {
			before = &other->node;
			break;
		}
	}
	list_add_tail(&device->node, before);
}

static void remove_device(struct nvdebug_device *device)
{
	lockdep_assert_held(&gpus_lock);
	list_del(&device->node);
	publisher->withdraw(device);
	if (device->number >= 0)
		ida_free(&numbers, device->number);
	nvdebug_device_retire(device);
}

static void add_device(const struct nvdebug_bus *bus, struct device *dev)
{
	struct nvdebug_device *device = nvdebug_device_create(bus, dev);

	lockdep_assert_held(&gpus_lock);
	if (!IS_ERR(device))
		insert_device(device);
	else if (PTR_ERR(device) == -ENOMEM)
		scan_error = -ENOMEM;
}

/*
 * As if it had just been found. Who shows a GPU holds no lock that would keep
 * what is known of it as it is; so that does not change, but gets a successor.
 */
static void renew_device(struct nvdebug_device *device)
{
	struct nvdebug_device *fresh;

	lockdep_assert_held(&gpus_lock);
	fresh = nvdebug_device_create(device->bus, device->dev);
	if (IS_ERR(fresh))
		return;
	if (!nvdebug_device_found_new(fresh, device)) {
		nvdebug_device_retire(fresh);
		return;
	}
	dev_info(device->dev, "tells more than before: /proc/gpu%d is made anew\n",
		 device->number);
	list_replace(&device->node, &fresh->node);
	publisher->withdraw(device);
	nvdebug_device_retire(device);
}

void nvdebug_gpus_add(const struct nvdebug_bus *bus, struct device *dev)
{
	struct nvdebug_device *device;

	mutex_lock(&gpus_lock);
	device = find_device(dev);
	if (!device && scan_new && !leaving)
		add_device(bus, dev);
	else if (device && xchg(&device->look_again, false) && dev->driver)
		renew_device(device);
	mutex_unlock(&gpus_lock);
}

void nvdebug_gpus_remove(struct device *dev)
{
	struct nvdebug_device *device;

	mutex_lock(&gpus_lock);
	device = find_device(dev);
	if (device)
		remove_device(device);
	mutex_unlock(&gpus_lock);
}

void nvdebug_gpus_driver(struct device *dev, unsigned long event)
{
	struct device_driver *driver = dev->driver;
	struct nvdebug_device *device;
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
	device = find_device(dev);
	if (device)
		nvdebug_device_driver(device, driver, runs);
	if (device && runs)
		nvdebug_gpus_look_again(device);
	else if (runs)
		nvdebug_gpus_scan_later();
	mutex_unlock(&gpus_lock);
}

static int publish_device(struct nvdebug_device *device)
{
	if (device->number < 0)
		device->number = ida_alloc(&numbers, GFP_KERNEL);
	if (device->number < 0)
		return device->number;
	return publisher->publish(device, device->number);
}

static int publish_all(void)
{
	struct nvdebug_device *device, *next;
	int error, ret = 0;

	mutex_lock(&gpus_lock);
	list_for_each_entry_safe(device, next, &gpus, node) {
		if (device->proc)
			continue;
		error = publish_device(device);
		if (error) {
			remove_device(device);
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

void nvdebug_gpus_look_again(struct nvdebug_device *device)
{
	if (!READ_ONCE(device->gpu.gaps))
		return;
	WRITE_ONCE(device->looked, jiffies);
	WRITE_ONCE(device->look_again, true);
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
	struct nvdebug_device *device, *next;

	mutex_lock(&gpus_lock);
	leaving = true;
	list_for_each_entry_safe(device, next, &gpus, node)
		remove_device(device);
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

int nvdebug_gpus_start(const struct nvdebug_publisher *publish_by)
{
	size_t i;
	int ret = 0;

	publisher = publish_by;
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
