// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Load and unload, the parameters, and GPUs that come and go. No PCI driver
 * is registered: the GPU keeps the driver it has, or none.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/idr.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/string.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>
#include <linux/workqueue.h>

#include "gpu.h"
#include "params.h"
#include "proc.h"
#include "selftest.h"

struct nvdebug_params nvdebug_params = {
	.move_window = true,
	.state_gid = -1,
};

static char *pram_window = "auto";
module_param(pram_window, charp, 0444);
MODULE_PARM_DESC(pram_window,
		 "May the window into video memory, which the GPU's driver uses too, be moved? auto (default): while needed; never: what it does not show cannot be read");
module_param_named(read_only, nvdebug_params.read_only, bool, 0444);
MODULE_PARM_DESC(read_only, "Refuse every write to a control file (default: no)");
module_param_named(state_gid, nvdebug_params.state_gid, int, 0444);
MODULE_PARM_DESC(state_gid,
		 "Group that may read scheduling state (default: none, root only)");
module_param_named(state_all, nvdebug_params.state_all, bool, 0444);
MODULE_PARM_DESC(state_all,
		 "Everybody may read scheduling state, but without addresses (default: no)");

/* The GPUs that have a folder or are about to get one, by PCI address. */
static LIST_HEAD(gpus);
static DEFINE_MUTEX(gpus_lock);
/* The numbers of the folders: always the lowest that is free. */
static DEFINE_IDA(numbers);

static bool is_gpu(const struct pci_dev *pdev)
{
	return pdev->vendor == PCI_VENDOR_ID_NVIDIA &&
	       pdev->class >> 16 == PCI_BASE_CLASS_DISPLAY;
}

static u64 address_of(const struct pci_dev *pdev)
{
	return (u64)pci_domain_nr(pdev->bus) << 16 | pci_dev_id((void *)pdev);
}

static struct nvdebug_gpu *find_gpu(const struct pci_dev *pdev)
{
	struct nvdebug_gpu *gpu;

	lockdep_assert_held(&gpus_lock);
	list_for_each_entry(gpu, &gpus, node)
		if (gpu->pdev == pdev)
			return gpu;
	return NULL;
}

static void insert_gpu(struct nvdebug_gpu *gpu)
{
	struct list_head *before = &gpus;
	struct nvdebug_gpu *other;

	lockdep_assert_held(&gpus_lock);
	list_for_each_entry(other, &gpus, node) {
		if (address_of(other->pdev) > address_of(gpu->pdev)) {
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
	if (gpu->proc) {
		nvdebug_proc_remove(gpu);
		ida_free(&numbers, gpu->number);
	}
	nvdebug_gpu_retire(gpu);
}

static void remove_all(void)
{
	struct nvdebug_gpu *gpu, *next;

	mutex_lock(&gpus_lock);
	list_for_each_entry_safe(gpu, next, &gpus, node)
		remove_gpu(gpu);
	mutex_unlock(&gpus_lock);
}

static int publish_gpu(struct nvdebug_gpu *gpu)
{
	int ret = ida_alloc(&numbers, GFP_KERNEL);

	if (ret < 0)
		return ret;
	gpu->number = ret;
	ret = nvdebug_proc_create(gpu, gpu->number);
	if (ret)
		ida_free(&numbers, gpu->number);
	return ret;
}

/*
 * Find the GPUs that are not known yet. All of them are identified before the
 * first gets a number, so that at load numbers follow PCI addresses. Those
 * that cannot be identified say so in the log, and are left out. Returns an
 * error if one could not get its folder.
 */
static int scan(void)
{
	struct nvdebug_gpu *gpu, *next;
	struct pci_dev *pdev = NULL;
	int error, ret = 0;

	/* keeps devices from coming and going, and waits until they have */
	pci_lock_rescan_remove();
	mutex_lock(&gpus_lock);
	for_each_pci_dev(pdev) {
		if (!is_gpu(pdev) || find_gpu(pdev))
			continue;
		gpu = nvdebug_gpu_create(pdev);
		if (!IS_ERR(gpu))
			insert_gpu(gpu);
	}
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
	pci_unlock_rescan_remove();
	return ret;
}

/*
 * When a device is announced its BARs have no addresses yet. Whoever adds it
 * holds the rescan lock until it is complete, and scan() waits for that.
 */
static void scan_later(struct work_struct *work)
{
	scan();
}

static DECLARE_WORK(scan_work, scan_later);

static int bus_event(struct notifier_block *block, unsigned long event,
		     void *data)
{
	struct pci_dev *pdev = to_pci_dev(data);
	struct nvdebug_gpu *gpu;

	if (!is_gpu(pdev))
		return NOTIFY_DONE;

	switch (event) {
	case BUS_NOTIFY_ADD_DEVICE:
		schedule_work(&scan_work);
		break;
	case BUS_NOTIFY_DEL_DEVICE:
		mutex_lock(&gpus_lock);
		gpu = find_gpu(pdev);
		if (gpu)
			remove_gpu(gpu);
		mutex_unlock(&gpus_lock);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block bus_notifier = { .notifier_call = bus_event };

static void report_none(void)
{
	mutex_lock(&gpus_lock);
	if (list_empty(&gpus))
		pr_info("no NVIDIA GPU here that can be shown; one that appears later gets a folder\n");
	mutex_unlock(&gpus_lock);
}

static int __init check_params(void)
{
	if (!strcmp(pram_window, "auto")) {
		nvdebug_params.move_window = true;
	} else if (!strcmp(pram_window, "never")) {
		nvdebug_params.move_window = false;
	} else {
		pr_err("pram_window=%s: must be auto or never\n", pram_window);
		return -EINVAL;
	}
	if (nvdebug_params.state_gid < -1) {
		pr_err("state_gid=%d: not a group\n", nvdebug_params.state_gid);
		return -EINVAL;
	}
	return 0;
}

static int __init nvdebug_init(void)
{
	int ret;

	ret = check_params();
	if (ret)
		return ret;
	ret = nvdebug_selftest();
	if (ret)
		return ret;
	ret = nvdebug_proc_check();
	if (ret)
		return ret;
	ret = bus_register_notifier(&pci_bus_type, &bus_notifier);
	if (ret)
		return ret;
	ret = scan();
	if (ret)
		goto err_remove;
	report_none();
	return 0;

err_remove:
	bus_unregister_notifier(&pci_bus_type, &bus_notifier);
	cancel_work_sync(&scan_work);
	remove_all();
	return ret;
}

static void __exit nvdebug_exit(void)
{
	bus_unregister_notifier(&pci_bus_type, &bus_notifier);
	cancel_work_sync(&scan_work);
	remove_all();
	ida_destroy(&numbers);
}

module_init(nvdebug_init);
module_exit(nvdebug_exit);

MODULE_DESCRIPTION("Shows and controls how NVIDIA GPUs schedule work");
MODULE_AUTHOR("The nvdebug authors");
MODULE_LICENSE("Dual MIT/GPL");
MODULE_VERSION(NVDEBUG_VERSION);
