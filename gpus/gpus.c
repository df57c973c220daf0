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

/* Serialises scans. Outside of all bus locks. */
static DEFINE_MUTEX(scan_lock);
/* Of the current scan: a GPU was left out for lack of memory. */
static int scan_error;
/* Of the current scan: also add unknown GPUs. */
static bool scan_new;
/* scan_new of the next scan from the work queue. */
static atomic_t wanted_new = ATOMIC_INIT(0);
/* The GPUs that have a directory or are about to get one, in order. */
static LIST_HEAD(gpus);
/* Inside of bus locks. */
static DEFINE_MUTEX(gpus_lock);
/* Numbers of the directories: always the lowest free one. */
static DEFINE_IDA(numbers);
/* Under gpus_lock: the module is unloaded, no GPU is added any more. */
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

/* With a reference of its own. */
static struct nvdebug_device *get_device_of(const struct device *dev)
{
	struct nvdebug_device *device;

	mutex_lock(&gpus_lock);
	device = find_device(dev);
	if (device)
		nvdebug_device_get(device);
	mutex_unlock(&gpus_lock);
	return device;
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
 * Probe it again, into a new struct: readers of the old one take no lock, so it
 * must not change.
 */
static void renew_device(struct nvdebug_device *device)
{
	struct nvdebug_device *fresh;

	lockdep_assert_held(&gpus_lock);
	fresh = nvdebug_device_create(device->bus, device->dev);
	if (IS_ERR(fresh))
		return;
	if (!nvdebug_device_replaces(fresh, device)) {
		nvdebug_device_retire(fresh);
		return;
	}
	dev_info(device->dev, "more registers answer: /proc/gpu%d is created again\n",
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
	else if (device && xchg(&device->probe_again, false) && dev->driver)
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

void nvdebug_gpus_driver_event(struct device *dev, unsigned long event)
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
	device = get_device_of(dev);
	if (device) {
		/* it may wait: not under gpus_lock, which others need */
		nvdebug_device_set_driver(device, driver, runs);
		if (runs)
			nvdebug_gpus_probe_again(device);
		nvdebug_device_put(device);
	} else if (runs) {
		nvdebug_gpus_scan_later();
	}
}

static int publish_device(struct nvdebug_device *device)
{
	if (device->number < 0)
		device->number = ida_alloc(&numbers, GFP_KERNEL);
	if (device->number < 0)
		return device->number;
	return publisher->publish(device, device->number);
}

static int gpus_publish_all(void)
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
 * Add unknown GPUs, if @new, and probe those with probe_again set. All are
 * identified before the first gets a number, so that at load numbers follow
 * addresses. A GPU that cannot be identified is logged and left out. Returns an
 * error if another could not get its directory.
 */
static int gpus_scan(bool new)
{
	size_t i;
	int ret;

	mutex_lock(&scan_lock);
	scan_error = 0;
	scan_new = new;
	for (i = 0; i < ARRAY_SIZE(buses); i++)
		buses[i]->scan();
	ret = gpus_publish_all();
	if (!ret)
		ret = scan_error;
	mutex_unlock(&scan_lock);
	return ret;
}

static void gpus_scan_work(struct work_struct *work)
{
	int ret = gpus_scan(atomic_xchg(&wanted_new, 0));

	if (ret)
		pr_err("failed to create the directory of a GPU (%d)\n", ret);
}

static DECLARE_WORK(scan_work, gpus_scan_work);

void nvdebug_gpus_scan_later(void)
{
	atomic_set(&wanted_new, 1);
	schedule_work(&scan_work);
}

void nvdebug_gpus_probe_again(struct nvdebug_device *device)
{
	if (!READ_ONCE(device->gpu.gaps))
		return;
	WRITE_ONCE(device->probed_at, jiffies);
	WRITE_ONCE(device->probe_again, true);
	schedule_work(&scan_work);
}

static void gpus_report_none(void)
{
	mutex_lock(&gpus_lock);
	if (list_empty(&gpus))
		pr_info("no usable NVIDIA GPU found yet\n");
	mutex_unlock(&gpus_lock);
}

static void gpus_remove_all(void)
{
	struct nvdebug_device *device, *next;

	mutex_lock(&gpus_lock);
	leaving = true;
	list_for_each_entry_safe(device, next, &gpus, node)
		remove_device(device);
	mutex_unlock(&gpus_lock);
}

/*
 * Remove all GPUs, then the notifiers of the first @count buses: the removal of
 * a device must be handled as long as its GPU is in the list.
 */
static void gpus_unwatch(size_t count)
{
	gpus_remove_all();
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
		gpus_unwatch(i - 1);
		return ret;
	}
	ret = gpus_scan(true);
	if (ret)
		gpus_unwatch(ARRAY_SIZE(buses));
	else
		gpus_report_none();
	return ret;
}

void nvdebug_gpus_stop(void)
{
	gpus_unwatch(ARRAY_SIZE(buses));
}
