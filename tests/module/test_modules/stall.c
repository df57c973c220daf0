// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Holds up the process that is named in "pid" when it calls a function, or
 * returns from it, until "release" is written. So a test can do things that
 * would otherwise have to happen at just that moment. The process is held for
 * a limited time, because a processor waits meanwhile, and cannot be taken off
 * it.
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/nmi.h>
#include <linux/sched.h>

/*
 * The limit is below 21 s, after which the kernel reports a stall of its own.
 */
#define PATIENCE_MS	18000

static char *function = "";
module_param(function, charp, 0444);
MODULE_PARM_DESC(function, "Its name");
static bool after;
module_param(after, bool, 0444);
MODULE_PARM_DESC(after, "When it returns");
static int calls = 1;
module_param(calls, int, 0444);
MODULE_PARM_DESC(calls, "At which call, counted from 1");
static int pid;
module_param(pid, int, 0644);
MODULE_PARM_DESC(pid, "Whose calls count");
static bool held;
module_param(held, bool, 0444);
MODULE_PARM_DESC(held, "It is held up");
static bool release;
module_param(release, bool, 0644);
MODULE_PARM_DESC(release, "It goes on");

static atomic_t count = ATOMIC_INIT(0);

static void hold_up(void)
{
	ktime_t deadline = ktime_add_ms(ktime_get(), PATIENCE_MS);

	if (task_tgid_nr(current) != READ_ONCE(pid) ||
	    atomic_inc_return(&count) != calls)
		return;
	WRITE_ONCE(held, true);
	while (!READ_ONCE(release) && ktime_before(ktime_get(), deadline)) {
		touch_nmi_watchdog();
		udelay(50);
	}
	WRITE_ONCE(held, false);
}

static int called(struct kprobe *probe, struct pt_regs *regs)
{
	hold_up();
	return 0;
}

static int returned(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	hold_up();
	return 0;
}

static struct kprobe entry = { .pre_handler = called };
static struct kretprobe end = { .handler = returned };

static int __init stall_init(void)
{
	entry.symbol_name = function;
	end.kp.symbol_name = function;
	return after ? register_kretprobe(&end) : register_kprobe(&entry);
}

static void __exit stall_exit(void)
{
	if (after)
		unregister_kretprobe(&end);
	else
		unregister_kprobe(&entry);
}

module_init(stall_init);
module_exit(stall_exit);
MODULE_DESCRIPTION("Holds up a call of a function, for tests");
MODULE_LICENSE("Dual MIT/GPL");
