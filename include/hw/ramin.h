/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * NV_RAMIN: a channel's instance block, 4 KiB of memory, by words of 32 bits.
 * It starts with RAMFC, where Host keeps its state of the channel while the
 * channel is on no PBDMA.
 *
 * Sources: open-gpu-doc manuals/{volta/gv100,turing/tu104,ampere/ga100}/
 * dev_ram.ref.txt and dev_pbdma.ref.txt; before Volta open-gpu-kernel-modules
 * src/common/inc/swref/published/{maxwell/gm107,pascal/gp100}/dev_ram.h and
 * linux-nvgpu include/nvgpu/hw/{gk20a,gm20b,gp10b}/hw_ram_*.h; from word 128 on
 * for Blackwell the nvgpu of NVIDIA's 2025 Jetson kernels, hw/gb10b and
 * hw/gb20c. Nothing is published of those words for Hopper: measured on an
 * H100, they are where Volta has them, and their width is taken from GB10B.
 */
#ifndef NVDEBUG_HW_RAMIN_H
#define NVDEBUG_HW_RAMIN_H

#include <linux/bits.h>

#define NV_RAMIN_WORDS				1024

/* RAMFC. It is not published for Hopper, and Blackwell has another layout. */
#define NV_RAMFC_TARGET				43
#define  NV_RAMFC_TARGET_ENGINE			GENMASK(4, 0)
#define NV_RAMFC_HCE_CTRL			57
#define  NV_RAMFC_HCE_CTRL_PRIV_MODE		BIT(5)
#define NV_RAMFC_CONFIG				61
#define  NV_RAMFC_CONFIG_AUTH_LEVEL		BIT(8) /* Volta and newer */

/*
 * The page directory of Host, copy and video engines; before Volta of all
 * engines.
 */
#define NV_RAMIN_PAGE_DIR_BASE			128
#define  NV_RAMIN_PAGE_DIR_BASE_TARGET		GENMASK(1, 0)
#define  NV_RAMIN_PAGE_DIR_BASE_VOL		BIT(2)
#define  NV_RAMIN_USE_VER2_PT_FORMAT		BIT(10) /* Pascal */
#define  NV_RAMIN_BIG_PAGE_SIZE_64KB		BIT(11) /* GM20x and newer */
#define  NV_RAMIN_PAGE_DIR_BASE_LO		GENMASK(31, 12) /* in place */
#define NV_RAMIN_PAGE_DIR_BASE_HI		129
#define  NV_RAMIN_PAGE_DIR_BASE_HI_GK104	GENMASK(7, 0)
#define  NV_RAMIN_PAGE_DIR_BASE_HI_GP100	GENMASK(31, 0)
/*
 * The last page that may be accessed. Later chips use the words for other
 * things.
 */
#define NV_RAMIN_ADR_LIMIT			130
#define  NV_RAMIN_ADR_LIMIT_LO			GENMASK(31, 12) /* in place */
#define  NV_RAMIN_ADR_LIMIT_IN_PAGE		GENMASK(11, 0) /* not stored */
#define NV_RAMIN_ADR_LIMIT_HI			131
#define  NV_RAMIN_ADR_LIMIT_HI_GK104		GENMASK(7, 0)
#define  NV_RAMIN_ADR_LIMIT_HI_GP100		GENMASK(31, 0)

/* The engine's state of the channel; up to Pascal the graphics engine's. */
#define NV_RAMIN_ENGINE_WFI			132
#define  NV_RAMIN_ENGINE_WFI_TARGET		GENMASK(1, 0)
#define  NV_RAMIN_ENGINE_WFI_MODE_VIRTUAL	BIT(2)
#define  NV_RAMIN_ENGINE_WFI_PTR_LO		GENMASK(31, 12) /* in place */
#define NV_RAMIN_ENGINE_WFI_HI			133
#define  NV_RAMIN_ENGINE_WFI_PTR_HI_GK104	GENMASK(7, 0)
#define  NV_RAMIN_ENGINE_WFI_PTR_HI_GB10B	GENMASK(25, 0)

/* Volta and newer have these words. */
#define NV_RAMIN_ENGINE_WFI_VEID		134
#define  NV_RAMIN_ENGINE_WFI_VEID_V		GENMASK(5, 0)
#define NV_RAMIN_PASID				135
#define  NV_RAMIN_PASID_V			GENMASK(19, 0)
#define  NV_RAMIN_PASID_ENABLE_ATS		BIT(31)

/* The subcontexts, whose page directories graphics and compute use. */
/* The mask has a bit for each subcontext. */
#define NV_RAMIN_SC_PDB_VALID			166
#define NV_RAMIN_SC_PDB_VALID_WORDS		2
#define NV_RAMIN_SC__SIZE_1			64
#define NV_RAMIN_SC(i)				(168 + 4 * (i))
#define NV_RAMIN_SC_STRIDE			4
/* The words of an entry. Its first two are like PAGE_DIR_BASE and _HI. */
#define NV_RAMIN_SC_PASID			2 /* like PASID */
#define NV_RAMIN_SC_WORDS			3 /* words with a meaning */

#endif
