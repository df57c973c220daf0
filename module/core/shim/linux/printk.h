/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#ifndef SHIM_LINUX_PRINTK_H
#define SHIM_LINUX_PRINTK_H

#include <stdio.h>

#define pr_err(fmt, ...)	fprintf(stderr, fmt, ##__VA_ARGS__)

#endif
