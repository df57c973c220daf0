// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Commits, when it is loaded, the mistake that its parameter names, so that a
 * test can see whether the guest's kernel notices.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timer.h>

static char *commit = "";
module_param(commit, charp, 0444);
MODULE_PARM_DESC(commit, "The name of the mistake");

static DEFINE_MUTEX(one);
static DEFINE_MUTEX(other);
static DEFINE_SPINLOCK(spin);
static DEFINE_MUTEX(kept);

/* Returns a number in a way that the compiler cannot see through. */
static int hidden(int number)
{
	OPTIMIZER_HIDE_VAR(number);
	return number;
}

static void use_after_free(void)
{
	char *memory = kzalloc(32, GFP_KERNEL);

	if (!memory)
		return;
	kfree(memory);
	OPTIMIZER_HIDE_VAR(memory);
	READ_ONCE(*memory);
}

static void out_of_bounds(void)
{
	char *memory = kzalloc(32, GFP_KERNEL);

	if (!memory)
		return;
	WRITE_ONCE(memory[hidden(32)], 1);
	kfree(memory);
}

static void leak(void)
{
	char *memory = kzalloc(32, GFP_KERNEL);

	OPTIMIZER_HIDE_VAR(memory);
}

static void lock_order(void)
{
	mutex_lock(&one);
	mutex_lock(&other);
	mutex_unlock(&other);
	mutex_unlock(&one);

	mutex_lock(&other);
	mutex_lock(&one);
	mutex_unlock(&one);
	mutex_unlock(&other);
}

/* Takes two locks of one kind: no deadlock here, but a possible one. */
static void lock_twice(void)
{
	struct mutex locks[2];	/* they protect nothing */
	int i;

	for (i = 0; i < 2; i++)
		mutex_init(&locks[i]);
	mutex_lock(&locks[0]);
	mutex_lock(&locks[1]);
	mutex_unlock(&locks[1]);
	mutex_unlock(&locks[0]);
}

static void lock_kept(void)
{
	mutex_lock(&kept);
}

static void unlock_free(void)
{
	mutex_unlock(&one);
}

static void sleep_in_atomic(void)
{
	spin_lock(&spin);
	might_sleep();
	spin_unlock(&spin);
}

static void shift(void)
{
	hidden(1 << hidden(40));
}

static void array_index(void)
{
	static struct {
		int in[4];
		int behind[60];
	} array;

	hidden(READ_ONCE(array.in[hidden(5)]));
}

static void nothing(struct timer_list *timer)
{
}

static void free_timer(void)
{
	struct timer_list *timer = kzalloc(sizeof(*timer), GFP_KERNEL);

	if (!timer)
		return;
	timer_setup(timer, nothing, 0);
	mod_timer(timer, jiffies + 3600 * HZ);
	kfree(timer);
}

static void warn(void)
{
	WARN_ON(1);
}

static int counter;

static int count(void *unused)
{
	while (!kthread_should_stop()) {
		counter++;
		cond_resched();
	}
	return 0;
}

static void race(void)
{
	struct task_struct *threads[2];
	int i;

	for (i = 0; i < 2; i++)
		threads[i] = kthread_run(count, NULL, "mistake/%d", i);
	msleep(3000);
	for (i = 0; i < 2; i++)
		if (!IS_ERR(threads[i]))
			kthread_stop(threads[i]);
}

static const struct {
	const char *name;
	void (*commit)(void);
} mistakes[] = {
	{ "use-after-free", use_after_free },
	{ "out-of-bounds", out_of_bounds },
	{ "leak", leak },
	{ "lock-order", lock_order },
	{ "lock-twice", lock_twice },
	{ "lock-kept", lock_kept },
	{ "unlock-free", unlock_free },
	{ "sleep-in-atomic", sleep_in_atomic },
	{ "shift", shift },
	{ "array-index", array_index },
	{ "free-timer", free_timer },
	{ "warn", warn },
	{ "race", race },
};

static int __init mistakes_init(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(mistakes); i++) {
		if (strcmp(commit, mistakes[i].name))
			continue;
		mistakes[i].commit();
		return 0;
	}
	return -EINVAL;
}

static void __exit mistakes_exit(void)
{
}

module_init(mistakes_init);
module_exit(mistakes_exit);
MODULE_DESCRIPTION("Mistakes for a test of what notices them");
MODULE_LICENSE("Dual MIT/GPL");
