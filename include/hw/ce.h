/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * NV_CE: which logical copy engine (LCE) each physical one (PCE) works for.
 *
 * Sources: open-gpu-doc manuals/turing/tu104/dev_ce.ref.txt and
 * manuals/ampere/ga102/dev_ce.ref.txt. PCE_MAP on Volta: linux-nvgpu
 * include/nvgpu/hw/gv100/hw_ce_gv100.h. No manual covers the other registers
 * of Pascal and Volta, nor GA100: offsets and layouts are those that Bakita
 * and Anderson (RTAS 2024) report to have used on such GPUs.
 */
#ifndef NVDEBUG_HW_CE_H
#define NVDEBUG_HW_CE_H

#include <linux/bits.h>

#define NV_CE_PCE_MAP				0x00104028 /* R- */
#define  NV_CE_PCE_MAP_VALUE_GP100		GENMASK(15, 0)
#define  NV_CE_PCE_MAP_VALUE_GA100		GENMASK(23, 0)

/* Pascal: one nibble per PCE, one byte per GRCE */
#define NV_CE_PCE2LCE_CONFIG0_GP100		0x0010402c /* RW */
#define  NV_CE_PCE2LCE_CONFIG0_GP100_BITS	4
#define  NV_CE_PCE2LCE_CONFIG0_GP100_NONE	0x7
#define NV_CE_GRCE_CONFIG_GP100			0x00104034 /* RW */
#define  NV_CE_GRCE_CONFIG_GP100_BITS		8
#define  NV_CE_GRCE_CONFIG_GP100_SHARED_LCE	GENMASK(2, 0)
#define  NV_CE_GRCE_CONFIG_GP100_SHARED		BIT(3)

/* Volta and newer: one register per PCE and per GRCE */
#define NV_CE_PCE2LCE_CONFIG_GV100		0x00104040 /* RW, + 4 i */
#define NV_CE_GRCE_CONFIG_GV100			0x00104034 /* RW, + 4 i */
#define NV_CE_PCE2LCE_CONFIG_GA100		0x00104100 /* RW, + 4 i */
#define NV_CE_GRCE_CONFIG_GA100			0x001041c0 /* RW, + 4 i */
#define  NV_CE_PCE2LCE_CONFIG_PCE_ASSIGNED_LCE	GENMASK(3, 0)
#define  NV_CE_PCE2LCE_CONFIG_PCE_ASSIGNED_LCE_NONE 0xf
#define  NV_CE_GRCE_CONFIG_SHARED_LCE		GENMASK(3, 0)
#define  NV_CE_GRCE_CONFIG_SHARED_LCE_NONE	0xf
#define  NV_CE_GRCE_CONFIG_SHARED		BIT(30) /* Turing+ */

#endif
