/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * PMC: the identity of the chip.
 *
 * Access letters as in NVIDIA's manuals: R- read, -W write, RW both.
 *
 * Sources: open-gpu-doc manuals/volta/gv100/dev_master.ref.txt,
 * manuals/ampere/ga100/dev_boot.ref.txt; open-gpu-kernel-modules
 * src/common/inc/swref/published/nv_ref.h.
 */
#ifndef NVDEBUG_HW_PMC_H
#define NVDEBUG_HW_PMC_H

#include <linux/bits.h>

#define NV_PMC_BOOT_0				0x00000000 /* R- */
#define  NV_PMC_BOOT_0_MINOR_REVISION		GENMASK(3, 0)
#define  NV_PMC_BOOT_0_MAJOR_REVISION		GENMASK(7, 4)
#define  NV_PMC_BOOT_0_ARCHITECTURE_1		BIT(8)
#define  NV_PMC_BOOT_0_IMPLEMENTATION		GENMASK(23, 20)
#define  NV_PMC_BOOT_0_ARCHITECTURE_0		GENMASK(28, 24)
/* Bits 31:29 name the foundry and are not part of the chip's identity. */

#define NV_PMC_BOOT_1				0x00000004 /* R- */
#define  NV_PMC_BOOT_1_VGPU8			BIT(8)
#define  NV_PMC_BOOT_1_VGPU			GENMASK(17, 16)

#define NV_PMC_BOOT_42				0x00000a00 /* R- */
#define  NV_PMC_BOOT_42_MINOR_REVISION		GENMASK(15, 12)
#define  NV_PMC_BOOT_42_MAJOR_REVISION		GENMASK(19, 16)
#define  NV_PMC_BOOT_42_CHIP_ID			GENMASK(29, 20)

/*
 * Answers of the register bus in place of a register's value. The low 20 bits
 * are a code for the reason; open-gpu-kernel-modules
 * src/nvidia/src/kernel/gpu/gpu_access.c tests the same bits.
 */
#define NV_PRI_GONE				0xffffffffu
#define NV_PRI_ERROR_MASK			0xfff00000u
#define NV_PRI_ERROR				0xbad00000u

#endif
