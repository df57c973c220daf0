// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Takes the lock of a PCI device and, when "go" is written, PCI's rescan lock
 * inside of it, as sriov_numvfs does in some kernels (6.1.158 to 6.1.169).
 */
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/pci.h>

static unsigned int slot;
module_param(slot, uint, 0444);
MODULE_PARM_DESC(slot, "The device's number on bus 0");
static bool locked;
module_param(locked, bool, 0444);
MODULE_PARM_DESC(locked, "It has the device's lock");
static bool go;
module_param(go, bool, 0644);
MODULE_PARM_DESC(go, "It takes the rescan lock, too");
static bool done;
module_param(done, bool, 0444);
MODULE_PARM_DESC(done, "It has had both and released them");

static struct pci_dev *pdev;
static struct task_struct *task;

static int lock_both(void *data)
{
	device_lock(&pdev->dev);
	WRITE_ONCE(locked, true);
	while (!READ_ONCE(go) && !kthread_should_stop())
		msleep(20);
	pci_lock_rescan_remove();
	pci_unlock_rescan_remove();
	device_unlock(&pdev->dev);
	WRITE_ONCE(done, true);
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

static int __init locksboth_init(void)
{
	pdev = pci_get_domain_bus_and_slot(0, 0, PCI_DEVFN(slot, 0));
	if (!pdev)
		return -ENODEV;
	task = kthread_run(lock_both, NULL, "locksboth");
	if (IS_ERR(task))
		pci_dev_put(pdev);
	return PTR_ERR_OR_ZERO(task);
}

static void __exit locksboth_exit(void)
{
	kthread_stop(task);
	pci_dev_put(pdev);
}

module_init(locksboth_init);
module_exit(locksboth_exit);
MODULE_DESCRIPTION("Takes a device's lock and then PCI's rescan lock, for a test");
MODULE_LICENSE("Dual MIT/GPL");
