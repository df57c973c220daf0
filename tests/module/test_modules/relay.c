// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Keeps each call of a function by user 1000 inside until another call is
 * inside, too. With many callers on many processors that happens by itself. A
 * call stays for two seconds at most, because a processor waits meanwhile.
 */
#include <linux/atomic.h>
#include <linux/cred.h>
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/nmi.h>
#include <linux/uidgid.h>

#define USER		1000
#define PATIENCE_MS	2000

static char *function = "";
module_param(function, charp, 0444);
MODULE_PARM_DESC(function, "Its name");
static int calls;
module_param(calls, int, 0444);
MODULE_PARM_DESC(calls, "Calls so far");

static atomic_t count = ATOMIC_INIT(0);

static int called(struct kprobe *probe, struct pt_regs *regs)
{
	ktime_t deadline = ktime_add_ms(ktime_get(), PATIENCE_MS);
	int mine;

	if (from_kuid(&init_user_ns, current_uid()) != USER)
		return 0;
	mine = atomic_inc_return(&count);
	WRITE_ONCE(calls, mine);
	while (atomic_read(&count) == mine && ktime_before(ktime_get(), deadline)) {
		touch_nmi_watchdog();
		udelay(20);
	}
	return 0;
}

static struct kprobe entry = { .pre_handler = called };

static int __init relay_init(void)
{
	entry.symbol_name = function;
	return register_kprobe(&entry);
}

static void __exit relay_exit(void)
{
	unregister_kprobe(&entry);
}

module_init(relay_init);
module_exit(relay_exit);
MODULE_DESCRIPTION("Makes calls of a function overlap, for a test");
MODULE_LICENSE("Dual MIT/GPL");
