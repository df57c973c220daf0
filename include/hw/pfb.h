/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The size of video memory, as the VBIOS left it.
 *
 * Sources: open-gpu-kernel-modules src/common/inc/swref/published/
 * pascal/gp102/dev_fb.h, ampere/ga102/dev_gc6_island.h and
 * dev_gc6_island_addendum.h; the register of each chip, from Turing on:
 * src/nvidia/generated/g_kern_mem_sys_nvoc.c (ReadUsableFbSize).
 */
#ifndef NVDEBUG_HW_PFB_H
#define NVDEBUG_HW_PFB_H

#include <linux/bits.h>

/* GP102 to GA100. Volta is between them, and inferred to be alike. */
#define NV_PFB_PRI_MMU_LOCAL_MEMORY_RANGE_GP102	0x00100ce0 /* RW */
#define  NV_PFB_PRI_MMU_LOCAL_MEMORY_RANGE_LOWER_SCALE GENMASK(3, 0)
#define  NV_PFB_PRI_MMU_LOCAL_MEMORY_RANGE_LOWER_MAG_GP102 GENMASK(9, 4)
#define  NV_PFB_PRI_MMU_LOCAL_MEMORY_RANGE_ECC_MODE_GP102 BIT(30)
/* The unit of LOWER_MAG << LOWER_SCALE, and of this register, is a MiB. */
#define NV_USABLE_FB_SIZE_IN_MB_GA102		0x001183a4 /* RW */
#define NV_PFB_SIZE_SHIFT			20

#endif
