// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Holds the lock of a PCI device as long as it is loaded, in a thread, because
 * no process may return to user space with a lock.
 */
#include <linux/completion.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/pci.h>

static unsigned int slot;
module_param(slot, uint, 0444);
MODULE_PARM_DESC(slot, "The device's number on bus 0");

static struct pci_dev *pdev;
static struct task_struct *holder;
static DECLARE_COMPLETION(held);

static int hold(void *unused)
{
	device_lock(&pdev->dev);
	complete(&held);
	while (!kthread_should_stop())
		schedule_timeout_idle(HZ / 20);
	device_unlock(&pdev->dev);
	return 0;
}

static int __init devicelock_init(void)
{
	pdev = pci_get_domain_bus_and_slot(0, 0, PCI_DEVFN(slot, 0));
	if (!pdev)
		return -ENODEV;
	holder = kthread_run(hold, NULL, "devicelock");
	if (IS_ERR(holder)) {
		pci_dev_put(pdev);
		return PTR_ERR(holder);
	}
	wait_for_completion(&held);
	return 0;
}

static void __exit devicelock_exit(void)
{
	kthread_stop(holder);
	pci_dev_put(pdev);
}

module_init(devicelock_init);
module_exit(devicelock_exit);
MODULE_DESCRIPTION("Holds the lock of a PCI device, for a test");
MODULE_LICENSE("Dual MIT/GPL");
