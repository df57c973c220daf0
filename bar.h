/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * BAR1 and BAR2: PCI BARs that show video memory, directly or through page
 * tables of their own. Reading through them disturbs nobody.
 */
#ifndef NVDEBUG_BAR_H
#define NVDEBUG_BAR_H

#include <linux/types.h>

struct nvdebug_bar_block;
struct nvdebug_gpu;

struct nvdebug_bar_ops {
	/* What does BAR @bar, 1 or 2, show? */
	int (*block)(struct nvdebug_gpu *gpu, int bar,
		     struct nvdebug_bar_block *block);
};

extern const struct nvdebug_bar_ops nvdebug_bars_gk104;
extern const struct nvdebug_bar_ops nvdebug_bars_tu102;
extern const struct nvdebug_bar_ops nvdebug_bars_gh100;

#endif
