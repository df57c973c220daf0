/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Checks of the decoders at load, in builds with NVDEBUG_SELFTEST=y.
 */
#ifndef NVDEBUG_SELFTEST_H
#define NVDEBUG_SELFTEST_H

#include <linux/init.h>

#ifdef NVDEBUG_SELFTEST
int __init nvdebug_selftest(void);
#else
static inline int nvdebug_selftest(void)
{
	return 0;
}
#endif

#endif
