// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * A scan has three steps. First the buses put new GPUs into the list, under the
 * lock of the bus that keeps devices in place, and wait for nothing. Then each
 * wanted GPU is probed, under the lock of its device alone. At last the probed
 * GPUs get their directories.
 *
 * A GPU leaves the list after it is accessed for the last time: whoever changes
 * its driver or removes it finds it in the list until then. Its directory goes
 * afterwards, if a task is inside one of its files.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/device.h>
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

/* Serialises scans. Taken outside of all locks of buses and devices. */
static DEFINE_MUTEX(scan_lock);
/* Error of the current scan: it left out a GPU for lack of memory. */
static int scan_error;
/* The next scan from the work queue also adds GPUs that are not in the list. */
static atomic_t wanted_new = ATOMIC_INIT(0);
/* The GPUs that have a directory or are about to get it, in order. */
static LIST_HEAD(gpus);
/* Protects the list alone: no code waits while it holds this lock. */
static DEFINE_MUTEX(gpus_lock);
/* Numbers of the directories. A new GPU gets the lowest free number. */
static DEFINE_IDA(numbers);
/*
 * Under gpus_lock: the module is being unloaded, and no GPU is added any more.
 */
static bool leaving;

static void gpus_scan_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(scan_work, gpus_scan_work);
/* Removes directories. */
static struct workqueue_struct *withdrawals;

/*
 * Queue a scan. It does not run while the system sleeps, because it enables and
 * reads GPUs.
 */
static void queue_scan(unsigned long delay)
{
	mod_delayed_work(system_freezable_wq, &scan_work, delay);
}

typedef bool (*device_test)(struct nvdebug_device *device, const void *data);

/* Find the first GPU in the list that passes @test. Returns a reference. */
static struct nvdebug_device *get_first(device_test test, const void *data)
{
	struct nvdebug_device *device;

	mutex_lock(&gpus_lock);
	list_for_each_entry(device, &gpus, node) {
		if (test(device, data)) {
			nvdebug_device_get(device);
			mutex_unlock(&gpus_lock);
			return device;
		}
	}
	mutex_unlock(&gpus_lock);
	return NULL;
}

static bool is_of(struct nvdebug_device *device, const void *dev)
{
	return device->dev == dev;
}

static bool is_any(struct nvdebug_device *device, const void *data)
{
	return true;
}

static bool take_wanted(struct nvdebug_device *device, const void *data)
{
	return xchg(&device->wanted, false);
}

static bool is_to_publish(struct nvdebug_device *device, const void *data)
{
	return device->probed && !device->published &&
	       (!device->before || completion_done(&device->before->withdrawn));
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

void nvdebug_gpus_found(const struct nvdebug_bus *bus, struct device *dev)
{
	struct nvdebug_device *device = get_first(is_of, dev);

	lockdep_assert_held(&scan_lock);
	if (device) {
		nvdebug_device_put(device);
		return;
	}
	device = nvdebug_device_create(bus, dev);
	if (!device) {
		scan_error = -ENOMEM;
		return;
	}
	device->wanted = true;
	mutex_lock(&gpus_lock);
	if (leaving)
		nvdebug_device_put(device);
	else
		insert_device(device);
	mutex_unlock(&gpus_lock);
}

/*
 * Remove the directory, and free its number. A task that reads a file may wait
 * for its own memory inside of read(), for example for a FUSE server, and
 * keeps the file for so long.
 */
static void withdraw_work(struct work_struct *work)
{
	struct nvdebug_device *device =
		container_of(work, struct nvdebug_device, withdraw);

	publisher->withdraw(device);
	if (device->before)
		wait_for_completion(&device->before->withdrawn);
	if (device->number >= 0)
		ida_free(&numbers, device->number);
	complete_all(&device->withdrawn);
	/* The GPU that is to get the directory's name can have it now. */
	queue_delayed_work(system_freezable_wq, &scan_work, 0);
	nvdebug_device_put(device);
}

/*
 * Time that a removal waits for the directory to go. The caller may hold locks
 * of the kernel, and a user can keep the directory for any time.
 */
#define WITHDRAW_TIME	HZ

/* End the GPU's accesses and, without waiting for it long, its files. */
static void end_device(struct nvdebug_device *device)
{
	lockdep_assert_held(&device->life);
	WRITE_ONCE(device->gone, true);
	/*
	 * Leases are undone and lists withdrawn at the present place of the
	 * registers.
	 */
	nvdebug_device_follow_registers(device);
	nvdebug_device_retire(device);
	device->removed = true;
	nvdebug_device_get(device);
	INIT_WORK(&device->withdraw, withdraw_work);
	queue_work(withdrawals, &device->withdraw);
	wait_for_completion_timeout(&device->withdrawn, WITHDRAW_TIME);
}

/* End the GPU, and take it off the list. */
static void drop_device(struct nvdebug_device *device)
{
	end_device(device);
	mutex_lock(&gpus_lock);
	list_del(&device->node);
	mutex_unlock(&gpus_lock);
	nvdebug_device_put(device);
}

/* Remove a GPU. This waits for a scan that is busy with it. */
static void remove_device(struct nvdebug_device *device)
{
	/* Anything that takes long should stop now. */
	WRITE_ONCE(device->gone, true);
	mutex_lock(&device->life);
	if (!device->removed)
		drop_device(device);
	mutex_unlock(&device->life);
}

static void probe_device(struct nvdebug_device *device)
{
	int ret = nvdebug_device_probe(device, NULL);

	device->probed = true;
	if (!ret)
		return;
	if (ret == -ENOMEM)
		scan_error = -ENOMEM;
	drop_device(device);
}

/*
 * Probe the GPU again, into a new struct: readers of the old struct take no
 * lock, so it must not change. The lock of the device keeps its driver bound or
 * unbound until the new struct is in the list.
 */
static void renew_device(struct nvdebug_device *device)
{
	struct nvdebug_device *fresh;
	int ret;

	/* Without a driver nobody has set up more registers. */
	if (!device->published || (device->identified && !device->driver))
		return;
	fresh = nvdebug_device_create(device->bus, device->dev);
	if (!fresh)
		return;
	/*
	 * If the GPU was not identified before, info may have another reason
	 * now.
	 */
	ret = nvdebug_device_probe(fresh, READ_ONCE(device->closed));
	if ((ret && device->identified) ||
	    !nvdebug_device_replaces(fresh, device)) {
		nvdebug_device_retire(fresh);
		nvdebug_device_put(fresh);
		return;
	}
	dev_info(device->dev,
		 "what is known of it has changed: /proc/gpu%d is created again\n",
		 fresh->number);
	fresh->probed = true;
	device->number = -1;
	end_device(device);
	/* Both structs describe the same registers. */
	fresh->gpu.uncontrollable = device->gpu.uncontrollable;
	mutex_lock(&gpus_lock);
	list_replace(&device->node, &fresh->node);
	fresh->before = device;
	mutex_unlock(&gpus_lock);
}

static void look_at(struct nvdebug_device *device)
{
	mutex_lock(&device->life);
	if (!device->removed) {
		if (!device_is_registered(device->dev))
			drop_device(device);
		else if (!device->probed)
			probe_device(device);
		else
			renew_device(device);
	}
	mutex_unlock(&device->life);
}

/*
 * Lock a device. A driver's probe() or remove() has the lock for as long as it
 * runs; NVIDIA's remove() waits for the last program on the GPU, which may take
 * hours.
 */
static bool lock_device(struct device *dev, unsigned long deadline)
{
	while (!device_trylock(dev)) {
		if (READ_ONCE(leaving) || time_after_eq(jiffies, deadline))
			return false;
		msleep(20);
	}
	return true;
}

/* Look at all wanted GPUs. A GPU whose lock is not free is put off. */
static void look_at_wanted(unsigned long deadline)
{
	struct nvdebug_device *device;

	while ((device = get_first(take_wanted, NULL))) {
		if (lock_device(device->dev, deadline)) {
			look_at(device);
			device_unlock(device->dev);
		} else {
			device->put_off = true;
		}
		nvdebug_device_put(device);
	}
}

/* Time until the next try to lock the devices that were put off. */
#define PUT_OFF		(HZ / 10)

static void want_put_off(void)
{
	struct nvdebug_device *device;
	bool any = false;

	mutex_lock(&gpus_lock);
	list_for_each_entry(device, &gpus, node) {
		if (!device->put_off)
			continue;
		device->put_off = false;
		WRITE_ONCE(device->wanted, true);
		any = true;
	}
	mutex_unlock(&gpus_lock);
	if (any)
		queue_scan(PUT_OFF);
}

/* Give each GPU without a number the lowest free one. */
static int number_all(void)
{
	struct nvdebug_device *device;
	int ret = 0;

	mutex_lock(&gpus_lock);
	list_for_each_entry(device, &gpus, node) {
		if (device->number >= 0)
			continue;
		ret = ida_alloc(&numbers, GFP_KERNEL);
		if (ret < 0)
			break;
		device->number = ret;
	}
	mutex_unlock(&gpus_lock);
	return min(ret, 0);
}

static int publish_device(struct nvdebug_device *device)
{
	int ret = 0;

	mutex_lock(&device->life);
	device->published = true;
	if (!device->removed) {
		ret = device->number < 0 ? -ENOMEM :
			publisher->publish(device, device->number);
		if (device->before)
			nvdebug_device_put(device->before);
		device->before = NULL;
		if (ret)
			drop_device(device);
	}
	mutex_unlock(&device->life);
	return ret;
}

static int publish_all(void)
{
	struct nvdebug_device *device;
	int ret = number_all();
	int error;

	while ((device = get_first(is_to_publish, NULL))) {
		error = publish_device(device);
		if (error)
			ret = error;
		nvdebug_device_put(device);
	}
	return ret;
}

/*
 * Look at the wanted GPUs and, if @new, at GPUs that are not in the list. All
 * are looked at before the first gets a number, so that at load numbers follow
 * addresses. A GPU that cannot be identified is logged and left out. Returns an
 * error if another GPU could not get its directory. Waits for locks of devices
 * for up to @patience in all.
 */
static int gpus_scan(bool new, unsigned long patience)
{
	unsigned long deadline = jiffies + patience;
	size_t i;
	int ret;

	mutex_lock(&scan_lock);
	scan_error = 0;
	for (i = 0; new && i < ARRAY_SIZE(buses); i++)
		buses[i]->scan();
	look_at_wanted(deadline);
	ret = publish_all();
	if (!ret)
		ret = scan_error;
	want_put_off();
	mutex_unlock(&scan_lock);
	return ret;
}

static void gpus_scan_work(struct work_struct *work)
{
	int ret = gpus_scan(atomic_xchg(&wanted_new, 0), 0);

	if (ret)
		pr_err("failed to create the directory of a GPU (%d)\n", ret);
}

void nvdebug_gpus_scan_later(void)
{
	atomic_set(&wanted_new, 1);
	queue_scan(0);
}

/*
 * If the new probe learns more, the files of the GPU are replaced, and open
 * ones fail. A program that has just opened info gets this time to read it.
 */
#define READ_TIME	(HZ / 10)

void nvdebug_gpus_probe_again(struct nvdebug_device *device)
{
	if (device->identified && !device->gpu.gaps)
		return;
	WRITE_ONCE(device->wanted, true);
	queue_scan(READ_TIME);
}

void nvdebug_gpus_remove(struct device *dev)
{
	struct nvdebug_device *device;

	/* Meanwhile a scan may have replaced the struct by a new one. */
	while ((device = get_first(is_of, dev))) {
		remove_device(device);
		nvdebug_device_put(device);
	}
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
	device = get_first(is_of, dev);
	if (device) {
		nvdebug_device_set_driver(device, driver, runs);
		if (runs)
			nvdebug_gpus_probe_again(device);
		nvdebug_device_put(device);
	} else if (runs) {
		nvdebug_gpus_scan_later();
	}
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
	struct nvdebug_device *device;

	mutex_lock(&gpus_lock);
	WRITE_ONCE(leaving, true);
	mutex_unlock(&gpus_lock);
	while ((device = get_first(is_any, NULL))) {
		remove_device(device);
		nvdebug_device_put(device);
	}
}

/*
 * Remove all GPUs and their directories, then the notifiers of the first @count
 * buses: the removal of a device must be handled as long as its GPU is in the
 * list.
 */
static void gpus_unwatch(size_t count)
{
	gpus_remove_all();
	destroy_workqueue(withdrawals);
	while (count--)
		buses[count]->unwatch();
	cancel_delayed_work_sync(&scan_work);
	ida_destroy(&numbers);
}

/* Time that loading waits for devices that are being read or configured. */
#define LOAD_PATIENCE	HZ

int nvdebug_gpus_start(const struct nvdebug_publisher *publish_by)
{
	size_t i;
	int ret = 0;

	publisher = publish_by;
	withdrawals = alloc_workqueue(KBUILD_MODNAME, WQ_UNBOUND, 0);
	if (!withdrawals)
		return -ENOMEM;
	for (i = 0; !ret && i < ARRAY_SIZE(buses); i++)
		ret = buses[i]->watch();
	if (ret) {
		gpus_unwatch(i - 1);
		return ret;
	}
	ret = gpus_scan(true, LOAD_PATIENCE);
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
