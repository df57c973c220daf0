/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What BAR1 or BAR2 shows of memory.
 */
#ifndef NVDEBUG_DECODE_BAR_H
#define NVDEBUG_DECODE_BAR_H

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nvdebug_bar_block {
	bool is_virtual;	/* else it shows video memory from 0 */
	bool busy;		/* being changed: not to be touched */
	bool halved;		/* if virtual, its upper half is something else */
	u8 aperture;		/* of the instance block */
	u64 inst;
};

/* @bar is 1 or 2. */
void nvdebug_bar_block_gk104(u32 block, u32 bind, int bar,
			     struct nvdebug_bar_block *out);
void nvdebug_bar_block_gh100(u32 low, u32 high, struct nvdebug_bar_block *out);

#ifdef __cplusplus
}
#endif
#endif
