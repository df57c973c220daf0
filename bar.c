// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/errno.h>

#include "bar.h"
#include "decode/bar.h"
#include "gpu.h"
#include "hw/bar.h"

/* Read a register that holds an address, and the one that vouches for it. */
static int read_block(struct nvdebug_gpu *gpu, int bar, u32 block_reg,
		      u32 bind_reg, struct nvdebug_bar_block *block)
{
	u32 value, bind;
	int ret;

	ret = nvdebug_reg_read(gpu, bind_reg, &bind);
	if (!ret)
		ret = nvdebug_reg_read_address(gpu, block_reg, ~0u, &value);
	if (!ret)
		nvdebug_bar_block_gk104(value, bind, bar, block);
	return ret;
}

static int read_block_gk104(struct nvdebug_gpu *gpu, int bar,
			    struct nvdebug_bar_block *block)
{
	return read_block(gpu, bar, bar == 1 ? NV_PBUS_BAR1_BLOCK :
					       NV_PBUS_BAR2_BLOCK,
			  NV_PBUS_BIND_STATUS, block);
}

/*
 * PBUS has these registers as well, but whether they tell what is in force is
 * not known (GA100's manual says that they store nothing). So they are second
 * choice, and believed only where they hold a bound instance block.
 */
static int read_block_tu102(struct nvdebug_gpu *gpu, int bar,
			    struct nvdebug_bar_block *block)
{
	int ret;

	ret = read_block(gpu, bar, bar == 1 ? NV_VF_BAR1_BLOCK :
					      NV_VF_BAR2_BLOCK,
			 NV_VF_BIND_STATUS, block);
	if (ret != -EIO)
		return ret;
	ret = read_block_gk104(gpu, bar, block);
	return ret ? ret : block->is_virtual ? 0 : -EIO;
}

static int read_block_gh100(struct nvdebug_gpu *gpu, int bar,
			    struct nvdebug_bar_block *block)
{
	u32 low_reg = bar == 1 ? NV_VF_FUNC_BAR1_BLOCK_LOW :
				 NV_VF_FUNC_BAR2_BLOCK_LOW;
	u32 high_reg = bar == 1 ? NV_VF_FUNC_BAR1_BLOCK_HIGH :
				  NV_VF_FUNC_BAR2_BLOCK_HIGH;
	u32 low, high;
	int ret;

	ret = nvdebug_reg_read(gpu, high_reg, &high);
	if (!ret)
		ret = nvdebug_reg_read_address(gpu, low_reg, ~0u, &low);
	if (!ret)
		nvdebug_bar_block_gh100(low, high, block);
	return ret;
}

const struct nvdebug_bar_ops nvdebug_bars_gk104 = {
	.block = read_block_gk104,
};

const struct nvdebug_bar_ops nvdebug_bars_tu102 = {
	.block = read_block_tu102,
};

const struct nvdebug_bar_ops nvdebug_bars_gh100 = {
	.block = read_block_gh100,
};
