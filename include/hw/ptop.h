/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * PTOP: counts of units, and the device information table in its two layouts.
 *
 * Sources: open-gpu-doc manuals/volta/gv100/dev_top.ref.txt and
 * manuals/turing/tu104/dev_top.ref.txt (version 1; NUM_CES: linux-nvgpu
 * include/nvgpu/hw/gv100/hw_top_gv100.h);
 * open-gpu-kernel-modules src/common/inc/swref/published/ampere/ga100/
 * dev_top.h and blackwell/gb100/dev_top.h (version 2). GB20x: gpu-admin-tools
 * gpu/regs/gb202/{top,top_int}.py, where it is version 2, and the nvgpu of
 * NVIDIA's 2025 Jetson kernels, hw/gb20c/hw_top_gb20c.h, where it is 3.
 */
#ifndef NVDEBUG_HW_PTOP_H
#define NVDEBUG_HW_PTOP_H

#include <linux/bits.h>

/* The chip's design, with the units that were switched off later. */
#define NV_PTOP_SCAL_NUM_GPCS			0x00022430 /* R- */
#define NV_PTOP_SCAL_NUM_TPC_PER_GPC		0x00022434 /* R- */
#define NV_PTOP_SCAL_NUM_FBPS			0x00022438 /* R- */
#define NV_PTOP_SCAL_NUM_CES			0x00022444 /* R- */
#define NV_PTOP_SCAL_NUM_LTCS			0x00022454 /* R-, GM20x+ */
#define  NV_PTOP_SCAL_VALUE			GENMASK(4, 0)

/* Version 1, Kepler to Turing: up to three tagged words per device. */
#define NV_PTOP_DEVICE_INFO(i)			(0x00022700 + 4 * (i)) /* R- */
#define NV_PTOP_DEVICE_INFO__SIZE_1		64
#define  NV_PTOP_DEVICE_INFO_ENTRY		GENMASK(1, 0)
#define   NV_PTOP_DEVICE_INFO_ENTRY_NOT_VALID	0
#define   NV_PTOP_DEVICE_INFO_ENTRY_DATA	1
#define   NV_PTOP_DEVICE_INFO_ENTRY_ENUM	2
#define   NV_PTOP_DEVICE_INFO_ENTRY_ENGINE_TYPE	3
#define  NV_PTOP_DEVICE_INFO_CHAIN		BIT(31)
/* Fields of ENTRY_DATA. TYPE 0 (ENUM2) is the only defined layout. */
#define  NV_PTOP_DEVICE_INFO_DATA_TYPE		BIT(30)
#define  NV_PTOP_DEVICE_INFO_DATA_INST_ID	GENMASK(29, 26)
#define  NV_PTOP_DEVICE_INFO_DATA_PRI_BASE	GENMASK(23, 12)
#define  NV_PTOP_DEVICE_INFO_DATA_FAULT_ID_ENUM	GENMASK(9, 3)
#define  NV_PTOP_DEVICE_INFO_DATA_FAULT_ID	BIT(2)
/* Fields of ENTRY_ENUM. Its low bits tell which fields are valid. */
#define  NV_PTOP_DEVICE_INFO_ENGINE_ENUM	GENMASK(29, 26)
#define  NV_PTOP_DEVICE_INFO_RUNLIST_ENUM	GENMASK(24, 21)
#define  NV_PTOP_DEVICE_INFO_INTR_ENUM		GENMASK(19, 15)
#define  NV_PTOP_DEVICE_INFO_RESET_ENUM		GENMASK(13, 9)
#define  NV_PTOP_DEVICE_INFO_ENGINE		BIT(5)
#define  NV_PTOP_DEVICE_INFO_RUNLIST		BIT(4)
#define  NV_PTOP_DEVICE_INFO_INTR		BIT(3)
#define  NV_PTOP_DEVICE_INFO_RESET		BIT(2)
/* The field of ENTRY_ENGINE_TYPE. */
#define  NV_PTOP_DEVICE_INFO_TYPE_ENUM		GENMASK(30, 2)

/* Version 2, Ampere and newer: up to three rows per device. */
#define NV_PTOP_DEVICE_INFO_CFG			0x000224fc /* R- */
#define  NV_PTOP_DEVICE_INFO_CFG_VERSION	GENMASK(3, 0)
#define   NV_PTOP_DEVICE_INFO_CFG_VERSION_INIT	2
/* Version 3 has the same rows. */
#define   NV_PTOP_DEVICE_INFO_CFG_VERSION_INIT_GB20C 3
#define  NV_PTOP_DEVICE_INFO_CFG_MAX_DEVICES	GENMASK(15, 4)
#define  NV_PTOP_DEVICE_INFO_CFG_MAX_ROWS_PER_DEVICE GENMASK(19, 16)
#define  NV_PTOP_DEVICE_INFO_CFG_NUM_ROWS	GENMASK(31, 20)
#define NV_PTOP_DEVICE_INFO2(i)			(0x00022800 + 4 * (i)) /* R- */
/* The second die of GB100 has a table of its own. */
#define NV_PTOP_DEVICE_INFO_CFG_DIE1		0x000324fc /* R- */
#define NV_PTOP_DEVICE_INFO2_DIE1(i)		(0x00032800 + 4 * (i)) /* R- */
#define  NV_PTOP_DEVICE_INFO2_ROW_CHAIN		BIT(31)
/* Fields of row 0. */
#define  NV_PTOP_DEVICE_INFO2_DEV_FAULT_ID	GENMASK(10, 0)
#define  NV_PTOP_DEVICE_INFO2_DEV_INSTANCE_ID	GENMASK(23, 16)
#define  NV_PTOP_DEVICE_INFO2_DEV_TYPE_ENUM	GENMASK(30, 24)
/* Fields of row 1. */
#define  NV_PTOP_DEVICE_INFO2_DEV_RESET_ID	GENMASK(7, 0)
#define   NV_PTOP_DEVICE_INFO2_DEV_RESET_ID_INVALID 0
/* GB20x also has 255 for an invalid id (its GIN_TARGET_ID in top_int.py). */
#define   NV_PTOP_DEVICE_INFO2_DEV_RESET_ID_INVALID_GB202 255
#define  NV_PTOP_DEVICE_INFO2_DEV_DEVICE_PRI_BASE GENMASK(25, 8) /* in place */
#define  NV_PTOP_DEVICE_INFO2_DEV_IS_ENGINE	BIT(30)
/* Fields of row 2. */
#define  NV_PTOP_DEVICE_INFO2_DEV_RLENG_ID	GENMASK(1, 0)
#define  NV_PTOP_DEVICE_INFO2_DEV_RUNLIST_PRI_BASE GENMASK(25, 10) /* in place */

/*
 * TYPE_ENUM, the same numbers in both versions. 19 and below: TU104 manual;
 * 21, 22: linux-nvgpu include/nvgpu/device.h; 23: Linux
 * drivers/gpu/drm/nouveau/nvkm/subdev/top/ga100.c; 24: open-gpu-kernel-modules
 * blackwell/gb100/dev_top.h; 31 and above: dev_top_zb.h and
 * ampere/ga100/dev_top_addendum.h.
 */
#define NV_PTOP_TYPE_GRAPHICS			0
#define NV_PTOP_TYPE_COPY0			1
#define NV_PTOP_TYPE_COPY1			2
#define NV_PTOP_TYPE_COPY2			3
#define NV_PTOP_TYPE_MSPDEC			8
#define NV_PTOP_TYPE_MSPPP			9
#define NV_PTOP_TYPE_MSVLD			10
#define NV_PTOP_TYPE_MSENC			11
#define NV_PTOP_TYPE_VIC			12
#define NV_PTOP_TYPE_SEC			13
#define NV_PTOP_TYPE_NVENC			14
#define NV_PTOP_TYPE_NVENC1			15
#define NV_PTOP_TYPE_NVDEC			16
#define NV_PTOP_TYPE_IOCTRL			18
#define NV_PTOP_TYPE_LCE			19
#define NV_PTOP_TYPE_GSP			20
#define NV_PTOP_TYPE_NVJPG			21
#define NV_PTOP_TYPE_OFA			22
#define NV_PTOP_TYPE_FLA			23
#define NV_PTOP_TYPE_HSHUB			24
#define NV_PTOP_TYPE_TMR			31
#define NV_PTOP_TYPE_PBUS			51
#define NV_PTOP_TYPE_PTOP			52
#define NV_PTOP_TYPE_HUBMMU			53

#endif
