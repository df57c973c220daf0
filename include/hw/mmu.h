/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Page tables: directory entries (PDE), the entries of the last directory,
 * which point to two tables (DUAL_PDE), and page table entries (PTE).
 *
 * Sources: open-gpu-kernel-modules src/common/inc/swref/published/
 * {maxwell/gm107,pascal/gp100,turing/tu102,hopper/gh100}/dev_mmu.h; MMU_CTRL
 * linux-nvgpu include/nvgpu/hw/gk20a/hw_fb_gk20a.h;
 * open-gpu-doc manuals/volta/gv100/dev_mmu.ref.txt, pascal/gp100-mmu-format.pdf;
 * levels: open-gpu-kernel-modules src/nvidia/src/kernel/gpu/mmu/arch/.../
 * kern_gmmu_fmt_{gm10x,gp10x,ga10x,gh10x,gb10x}.c.
 */
#ifndef NVDEBUG_HW_MMU_H
#define NVDEBUG_HW_MMU_H

#include <linux/bits.h>

/*
 * The size of version 1's big pages, where the instance block has no bit for
 * it.
 */
#define NV_PFB_PRI_MMU_CTRL			0x00100c80 /* RW */
#define  NV_PFB_PRI_MMU_CTRL_VM_PG_SIZE_64KB	BIT(0)
/* GM20x and newer (open-gpu-doc manuals/volta/gv100/pri_mmu_both.ref.txt) */
#define  NV_PFB_PRI_MMU_CTRL_USE_PDB_BIG_PAGE_SIZE	BIT(11)

/*
 * The alignment of every directory and table, except for tables of big pages
 * from version 2 on.
 */
#define NV_MMU_ROOT_ALIGN			4096

/*
 * The aperture of a table. Every version has these codes, unlike NV_APERTURE_*.
 */
#define NV_MMU_PDE_APERTURE_INVALID		0
#define NV_MMU_PDE_APERTURE_VID			1
#define NV_MMU_PDE_APERTURE_COH			2
#define NV_MMU_PDE_APERTURE_NCOH		3

/* Set in a valid PTE and, where an entry may be a PDE or a PTE, in a PTE. */
#define NV_MMU_VALID				BIT_ULL(0)

/*
 * Version 1: Fermi to Maxwell, accepted by Pascal. There is one kind of PDE.
 * Its halves look alike, except for the fields marked LO and HI.
 */
#define NV_MMU_VER1_PDE_APERTURE		GENMASK_ULL(1, 0)
#define NV_MMU_VER1_PDE_LO_SIZE			GENMASK_ULL(3, 2) /* 1 >> SIZE */
#define NV_MMU_VER1_PDE_HI_VOL_BIG		BIT_ULL(3)
#define NV_MMU_VER1_PDE_ADDRESS_VID		GENMASK_ULL(28, 4) /* >> 8 */
#define NV_MMU_VER1_PDE_ADDRESS_SYS		GENMASK_ULL(31, 4) /* >> 8 */

#define NV_MMU_VER1_PTE_PRIVILEGE		BIT_ULL(1)
#define NV_MMU_VER1_PTE_READ_ONLY		BIT_ULL(2)
#define NV_MMU_VER1_PTE_ADDRESS_VID		GENMASK_ULL(28, 4) /* >> 8 */
#define NV_MMU_VER1_PTE_ADDRESS_SYS		GENMASK_ULL(31, 4) /* >> 8 */
#define NV_MMU_VER1_PTE_PEER			GENMASK_ULL(31, 29)
#define NV_MMU_VER1_PTE_VOL			BIT_ULL(32)
#define NV_MMU_VER1_PTE_APERTURE		GENMASK_ULL(34, 33) /* NV_APERTURE_* */
#define NV_MMU_VER1_PTE_KIND			GENMASK_ULL(43, 36)
#define NV_MMU_VER1_PTE_COMPTAGLINE		GENMASK_ULL(60, 44)
#define NV_MMU_VER1_ADDRESS_SHIFT		8

/* Version 2: Pascal to Ada. The two halves of a DUAL_PDE are 64 bits each. */
#define NV_MMU_VER2_PDE_APERTURE		GENMASK_ULL(2, 1)
#define NV_MMU_VER2_PDE_VOL			BIT_ULL(3)
#define NV_MMU_VER2_PDE_ADDRESS_VID		GENMASK_ULL(32, 8) /* >> 4 */
#define NV_MMU_VER2_PDE_ADDRESS_SYS		GENMASK_ULL(53, 8) /* >> 4 */
#define NV_MMU_VER2_DUAL_PDE_ADDRESS_BIG_VID	GENMASK_ULL(32, 4) /* >> 4 */
#define NV_MMU_VER2_DUAL_PDE_ADDRESS_BIG_SYS	GENMASK_ULL(53, 4) /* >> 4 */

#define NV_MMU_VER2_PTE_APERTURE		GENMASK_ULL(2, 1) /* NV_APERTURE_* */
#define NV_MMU_VER2_PTE_VOL			BIT_ULL(3)
#define NV_MMU_VER2_PTE_PRIVILEGE		BIT_ULL(5)
#define NV_MMU_VER2_PTE_READ_ONLY		BIT_ULL(6)
#define NV_MMU_VER2_PTE_ATOMIC_DISABLE		BIT_ULL(7)
#define NV_MMU_VER2_PTE_ADDRESS_VID		GENMASK_ULL(32, 8) /* >> 4 */
#define NV_MMU_VER2_PTE_ADDRESS_SYS		GENMASK_ULL(53, 8) /* >> 4 */
/*
 * On GP10B and GV11B the compression tag of system memory is above
 * (hw_gmmu_*.h).
 */
#define NV_MMU_VER2_PTE_ADDRESS_SYS_GP10B	GENMASK_ULL(35, 8) /* >> 4 */
#define NV_MMU_VER2_PTE_PEER			GENMASK_ULL(35, 33)
/* In entries for video memory; bits 55:54 are Turing's. */
#define NV_MMU_VER2_PTE_COMPTAGLINE		GENMASK_ULL(55, 36)
#define NV_MMU_VER2_PTE_KIND			GENMASK_ULL(63, 56)
#define NV_MMU_VER2_ADDRESS_SHIFT		4

/* Version 3: Hopper and Blackwell. Addresses are in place. */
#define NV_MMU_VER3_PDE_APERTURE		GENMASK_ULL(2, 1)
#define NV_MMU_VER3_PDE_PCF			GENMASK_ULL(5, 3)
/* Bits of PCF in an entry without a table; the first one allows ATS. */
#define  NV_MMU_VER3_PDE_PCF_ATS		BIT_ULL(4)
#define  NV_MMU_VER3_PDE_PCF_SPARSE		BIT_ULL(3)
#define NV_MMU_VER3_PDE_ADDRESS			GENMASK_ULL(51, 12)
#define NV_MMU_VER3_DUAL_PDE_ADDRESS_BIG	GENMASK_ULL(51, 8)

#define NV_MMU_VER3_PTE_APERTURE		GENMASK_ULL(2, 1) /* NV_APERTURE_* */
#define NV_MMU_VER3_PTE_PCF			GENMASK_ULL(7, 3)
/* In an entry that is not valid: */
#define  NV_MMU_VER3_PTE_PCF_SPARSE		BIT_ULL(3)
#define  NV_MMU_VER3_PTE_PCF_MAPPING_NOWHERE	BIT_ULL(4)
#define  NV_MMU_VER3_PTE_PCF_NO_VALID_4KB_PAGE	GENMASK_ULL(4, 3)
/* In a valid entry: */
#define  NV_MMU_VER3_PTE_PCF_UNCACHED		BIT_ULL(3)
#define  NV_MMU_VER3_PTE_PCF_PRIVILEGE		BIT_ULL(4)
#define  NV_MMU_VER3_PTE_PCF_READ_ONLY		BIT_ULL(5)
#define  NV_MMU_VER3_PTE_PCF_NO_ATOMIC		BIT_ULL(6)
#define NV_MMU_VER3_PTE_KIND			GENMASK_ULL(11, 8)
#define NV_MMU_VER3_PTE_ADDRESS			GENMASK_ULL(51, 12)
#define NV_MMU_VER3_PTE_PEER			GENMASK_ULL(63, 61)

/* Kinds from Turing on that may be compressed. */
#define NV_MMU_PTE_KIND_COMPRESSIBLE_FIRST_TU102	0x8
#define NV_MMU_PTE_KIND_COMPRESSIBLE_LAST_TU102		0xe

#endif
