/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Decodes the instance block register of BAR1 or BAR2. */
#ifndef NVDEBUG_DECODE_BAR_H
#define NVDEBUG_DECODE_BAR_H

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nvdebug_bar_block {
	bool is_virtual;	/* else video memory from 0 */
	bool busy;		/* bind in progress: must not be accessed */
	bool halved;		/* if virtual, its upper half is not usable */
	u8 aperture;		/* aperture of the instance block */
	u64 inst;
};

/* Decode the registers. @bar is 1 or 2. */
void nvdebug_bar_block_gk104(u32 block, u32 bind, int bar,
			     struct nvdebug_bar_block *out);
void nvdebug_bar_block_gh100(u32 low, u32 high, struct nvdebug_bar_block *out);

#ifdef __cplusplus
}
#endif
#endif
