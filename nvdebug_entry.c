// SPDX-License-Identifier: MIT OR GPL-2.0
/* Loading and unloading of the module. */
#include <linux/module.h>

#include "access/lockdown.h"
#include "access/params.h"
#include "gpus/gpus.h"
#include "proc/proc.h"

static int __init nvdebug_init(void)
{
	int ret;

	ret = nvdebug_params_check();
	if (ret)
		return ret;
	/*
	 * The kernel logs a line for each refusal that is asked for. Asking now
	 * spares every reader the question and the line.
	 */
	nvdebug_locked_down(LOCKDOWN_PCI_ACCESS);
	nvdebug_locked_down(LOCKDOWN_KCORE);
	ret = nvdebug_proc_check();
	if (ret)
		return ret;
	return nvdebug_gpus_start(&nvdebug_proc_publisher);
}

static void __exit nvdebug_exit(void)
{
	nvdebug_gpus_stop();
}

module_init(nvdebug_init);
module_exit(nvdebug_exit);

MODULE_DESCRIPTION("Shows and controls how NVIDIA GPUs schedule work");
MODULE_AUTHOR("The nvdebug authors");
MODULE_LICENSE("Dual MIT/GPL");
MODULE_VERSION(NVDEBUG_VERSION);
