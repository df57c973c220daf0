// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/bitfield.h>

#include "decode/copy.h"
#include "hw/ce.h"

u8 nvdebug_pce_lce_gp100(u32 config, u32 pce)
{
	u32 lce;

	if (pce >= 32 / NV_CE_PCE2LCE_CONFIG0_GP100_BITS)
		return NVDEBUG_LCE_NONE;
	lce = config >> (pce * NV_CE_PCE2LCE_CONFIG0_GP100_BITS);
	lce &= GENMASK(NV_CE_PCE2LCE_CONFIG0_GP100_BITS - 1, 0);
	return lce == NV_CE_PCE2LCE_CONFIG0_GP100_NONE ? NVDEBUG_LCE_NONE : lce;
}

u8 nvdebug_pce_lce_gv100(u32 config, u32 pce)
{
	u32 lce = FIELD_GET(NV_CE_PCE2LCE_CONFIG_PCE_ASSIGNED_LCE, config);

	return lce == NV_CE_PCE2LCE_CONFIG_PCE_ASSIGNED_LCE_NONE ?
		NVDEBUG_LCE_NONE : lce;
}

u8 nvdebug_grce_lce_gp100(u32 config, u32 grce)
{
	if (grce >= 32 / NV_CE_GRCE_CONFIG_GP100_BITS)
		return NVDEBUG_LCE_NONE;
	config >>= grce * NV_CE_GRCE_CONFIG_GP100_BITS;
	if (!(config & NV_CE_GRCE_CONFIG_GP100_SHARED))
		return NVDEBUG_LCE_NONE;
	return FIELD_GET(NV_CE_GRCE_CONFIG_GP100_SHARED_LCE, config);
}

u8 nvdebug_grce_lce_gv100(u32 config, u32 grce)
{
	u32 lce = FIELD_GET(NV_CE_GRCE_CONFIG_SHARED_LCE, config);

	return lce == NV_CE_GRCE_CONFIG_SHARED_LCE_NONE ?
		NVDEBUG_LCE_NONE : lce;
}

/*
 * From Turing on SHARED_LCE is valid only if the SHARED bit is set. NVIDIA's
 * driver leaves SHARED_LCE 0 where it clears that bit. Without the check every
 * GRCE with a PCE of its own would seem to share LCE 0's
 * (open-gpu-kernel-modules
 * src/nvidia/src/kernel/gpu/ce/arch/turing/kernel_ce_tu102.c).
 */
u8 nvdebug_grce_lce_tu102(u32 config, u32 grce)
{
	if (!(config & NV_CE_GRCE_CONFIG_SHARED))
		return NVDEBUG_LCE_NONE;
	return nvdebug_grce_lce_gv100(config, grce);
}
