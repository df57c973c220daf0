// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Lets a function of the kernel or of a module return an error after it has
 * done its work.
 */
#include <linux/atomic.h>
#include <linux/kprobes.h>
#include <linux/module.h>

static char *function = "";
module_param(function, charp, 0444);
MODULE_PARM_DESC(function, "Its name");
static int error;
module_param(error, int, 0444);
MODULE_PARM_DESC(error, "What it returns");
static int calls = 1;
module_param(calls, int, 0444);
MODULE_PARM_DESC(calls, "From which call on, counted from 1");

static atomic_t count = ATOMIC_INIT(0);

static int on_return(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	if (atomic_inc_return(&count) >= calls)
		regs_set_return_value(regs, (long)error);
	return 0;
}

static struct kretprobe probe = { .handler = on_return };

static int __init failreturn_init(void)
{
	probe.kp.symbol_name = function;
	return register_kretprobe(&probe);
}

static void __exit failreturn_exit(void)
{
	unregister_kretprobe(&probe);
}

module_init(failreturn_init);
module_exit(failreturn_exit);
MODULE_DESCRIPTION("Lets a function fail, for a test");
MODULE_LICENSE("Dual MIT/GPL");
