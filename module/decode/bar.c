// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/bitfield.h>

#include "decode/bar.h"
#include "hw/bar.h"

void nvdebug_bar_block_gk104(u32 block, u32 bind, int bar,
			     struct nvdebug_bar_block *out)
{
	out->is_virtual = block & NV_BAR_BLOCK_MODE_VIRTUAL;
	out->busy = bind & (bar == 1 ? NV_BIND_STATUS_BAR1 :
				       NV_BIND_STATUS_BAR2);
	out->halved = bar == 2 && block & NV_BAR_BLOCK_DEBUG_CYA_OFF;
	out->aperture = FIELD_GET(NV_BAR_BLOCK_TARGET, block);
	out->inst = (u64)FIELD_GET(NV_BAR_BLOCK_PTR, block) << 12;
}

void nvdebug_bar_block_gh100(u32 low, u32 high, struct nvdebug_bar_block *out)
{
	out->is_virtual = low & NV_VF_FUNC_BAR_BLOCK_LOW_MODE_VIRTUAL;
	out->busy = low & NV_VF_FUNC_BAR_BLOCK_LOW_BUSY;
	out->halved = false;
	out->aperture = FIELD_GET(NV_VF_FUNC_BAR_BLOCK_LOW_TARGET, low);
	out->inst = (u64)FIELD_GET(NV_VF_FUNC_BAR_BLOCK_HIGH_PTR, high) << 32 |
		    (low & NV_VF_FUNC_BAR_BLOCK_LOW_PTR);
}
