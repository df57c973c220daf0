/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A mutex for one thread. Taking a lock that is held would wait for ever, so it
 * ends the program, as does giving up a lock that is not held.
 */
#ifndef SHIM_LINUX_MUTEX_H
#define SHIM_LINUX_MUTEX_H

#include <linux/lockdep.h>
#include <linux/errno.h>
#include <shim.h>
#include <stdlib.h>

struct mutex {
	bool held;
	unsigned long taken;	/* number of times it was taken */
};

static inline void mutex_init(struct mutex *lock)
{
	lock->held = false;
	lock->taken = 0;
}

static inline void mutex_destroy(struct mutex *lock)
{
	if (lock->held)
		abort();
}

/* Taking a lock may sleep, so interrupts must be on. */
static inline void mutex_lock(struct mutex *lock)
{
	if (lock->held || shim.irqs_off)
		abort();
	lock->held = true;
	lock->taken++;
}

static inline void mutex_unlock(struct mutex *lock)
{
	lockdep_assert_held(lock);
	lock->held = false;
}

/* If the task is killed, fails as if it had to wait for the lock. */
static inline int __must_check mutex_lock_killable(struct mutex *lock)
{
	if (shim.killed)
		return -EINTR;
	mutex_lock(lock);
	return 0;
}

#endif
