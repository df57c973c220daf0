/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The compare of a compare-and-write of video memory, see nvdebug_mem_write().
 */
#ifndef NVDEBUG_ACCESS_CHANGE_H
#define NVDEBUG_ACCESS_CHANGE_H

#include <linux/io.h>

#include "core/machine.h"
#include "decode/register.h"

/*
 * Check that the guards and the word are as expected. @at is the mapping of
 * change->addr; the rest of its 4 KiB is mapped, too. Interrupts are off. Errors
 * as nvdebug_word_check().
 */
static inline int nvdebug_change_check(const void __iomem *at,
				       const struct nvdebug_mem_change *change)
{
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < change->guards; i++) {
		const struct nvdebug_mem_guard *guard = &change->guard[i];
		long offset = (long)(guard->addr - change->addr);

		ret = nvdebug_word_check(readl(at + offset), guard->value);
	}
	/* The word is compared last, right before it is written. */
	return ret ? ret : nvdebug_word_check(readl(at), change->expected);
}

#endif
