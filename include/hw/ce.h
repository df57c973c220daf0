/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * NV_CE: the logical copy engine (LCE) that each physical one (PCE) works for.
 *
 * Sources: open-gpu-doc manuals/turing/tu104/dev_ce.ref.txt and
 * manuals/ampere/ga102/dev_ce.ref.txt. PCE_MAP on Volta: linux-nvgpu
 * include/nvgpu/hw/gv100/hw_ce_gv100.h. No manual covers the other registers of
 * Pascal and Volta, nor GA100: offsets and layouts are those that Bakita and
 * Anderson (RTAS 2024) report to have used on such GPUs. Hopper: read on an
 * H100, where they agree with the masks that NVIDIA's driver reports.
 * Blackwell: the nvgpu of NVIDIA's 2025 Jetson kernels, hw/gb10b/hw_ce_gb10b.h
 * and hw/gb20c/hw_ce_gb20c.h.
 *
 * Numbers of engines: open-gpu-kernel-modules src/common/inc/swref/published/
 * {hopper/gh100,blackwell/gb100,blackwell/gb202}/dev_ce_base.h.
 */
#ifndef NVDEBUG_HW_CE_H
#define NVDEBUG_HW_CE_H

#include <linux/bits.h>

#define NV_CE_PCE_MAP				0x00104028 /* R- */
#define  NV_CE_PCE_MAP_VALUE_GP100		GENMASK(15, 0)
#define  NV_CE_PCE_MAP_VALUE_GA100		GENMASK(23, 0)

/* Pascal has a nibble for each PCE and a byte for each GRCE. */
#define NV_CE_PCE2LCE_CONFIG0_GP100		0x0010402c /* RW */
#define  NV_CE_PCE2LCE_CONFIG0_GP100_BITS	4
#define  NV_CE_PCE2LCE_CONFIG0_GP100_NONE	0x7
#define NV_CE_GRCE_CONFIG_GP100			0x00104034 /* RW */
#define  NV_CE_GRCE_CONFIG_GP100_BITS		8
#define  NV_CE_GRCE_CONFIG_GP100_SHARED_LCE	GENMASK(2, 0)
#define  NV_CE_GRCE_CONFIG_GP100_SHARED		BIT(3)

/* Volta and newer have a register for each PCE and each GRCE. */
#define NV_CE_PCE2LCE_CONFIG_GV100		0x00104040 /* RW, + 4 i */
#define NV_CE_GRCE_CONFIG_GV100			0x00104034 /* RW, + 4 i */
#define NV_CE_PCE2LCE_CONFIG_GA100		0x00104100 /* RW, + 4 i */
#define NV_CE_PCE2LCE_CONFIG__SIZE_1_GH100	16
#define NV_CE_PCE2LCE_CONFIG__SIZE_1_GB100	24
#define NV_CE_PCE2LCE_CONFIG__SIZE_1_GB202	4
#define NV_CE_GRCE_CONFIG_GA100			0x001041c0 /* RW, + 4 i */
#define NV_CE_GRCE_CONFIG__SIZE_1_GH100		2 /* measured; GB100's too */
#define NV_CE_GRCE_CONFIG__SIZE_1_GB202		4
/* LCEs that one unit of registers has (src/nvidia/generated/g_kernel_ce_nvoc.h) */
#define NV_CE_SHIM_LCES_GB100			10
#define  NV_CE_PCE2LCE_CONFIG_PCE_ASSIGNED_LCE	GENMASK(3, 0)
#define  NV_CE_PCE2LCE_CONFIG_PCE_ASSIGNED_LCE_NONE 0xf
#define  NV_CE_GRCE_CONFIG_SHARED_LCE		GENMASK(3, 0)
#define  NV_CE_GRCE_CONFIG_SHARED_LCE_NONE	0xf
#define  NV_CE_GRCE_CONFIG_SHARED		BIT(30) /* Turing+ */

#endif
