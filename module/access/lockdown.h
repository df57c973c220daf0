/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Kernel lockdown. The kernel writes a line to its log each time that a refusal
 * is asked for, and the line's rate limit is everybody's. Lockdown is never
 * lifted, so a refusal is remembered instead, for all tasks: up to Linux 5.16
 * SELinux could refuse single ones.
 */
#ifndef NVDEBUG_LOCKDOWN_H
#define NVDEBUG_LOCKDOWN_H

#include <linux/security.h>
#include <linux/types.h>

bool nvdebug_locked_down(enum lockdown_reason what);
/*
 * Return whether nvdebug_locked_down() has returned true already. Does not ask
 * the kernel.
 */
bool nvdebug_known_locked_down(enum lockdown_reason what);

#endif
