/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#ifndef SHIM_LINUX_SCHED_SIGNAL_H
#define SHIM_LINUX_SCHED_SIGNAL_H

#include <linux/errno.h>
#include <linux/sched.h>
#include <shim.h>

/* C++ programs have members of this name. */
#ifndef __cplusplus
#define current	NULL
#endif

#define fatal_signal_pending(task)	(shim.killed)

#endif
