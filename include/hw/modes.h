/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Registers that show whether MIG or confidential computing is on.
 *
 * Sources: open-gpu-kernel-modules src/common/inc/swref/published/
 * ampere/ga100/dev_bus{,_addendum}.h, hopper/gh100/dev_gc6_island{,_addendum}.h,
 * blackwell/gb100/dev_boot_zb{,_addendum}.h; linux-nvgpu hw_smcarb_ga100.h.
 */
#ifndef NVDEBUG_HW_MODES_H
#define NVDEBUG_HW_MODES_H

#include <linux/bits.h>

/*
 * NV_PBUS_SW_SCRATCH(1). NVIDIA's driver reads the mode there on GA100 alone.
 */
#define NV_PBUS_SW_SCRATCH1			0x00001404 /* RW */
#define  NV_PBUS_SW_SCRATCH1_SMC_MODE		BIT(15)

/* Read on a GH100, too: 0 with MIG off. Nothing is published for GB10x. */
#define NV_SMCARB_SYS_PIPE_INFO			0x0000cc80 /* RW */
#define  NV_SMCARB_SYS_PIPE_INFO_MODE		BIT(0)

#define NV_PGC6_AON_SECURE_SCRATCH_GROUP_20_CC	0x001182cc /* RW */
#define NV_PMC_ZB_SCRATCH_RESET_2_CC		0x00000590 /* RW */
#define  NV_CC_MODE_ENABLED			BIT(0) /* of both */

#endif
