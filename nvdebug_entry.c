// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Load and unload.
 */
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
	/* so that no reader has to ask, and cause a line in the log */
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
