// SPDX-License-Identifier: MIT OR GPL-2.0
/* The versions of page tables, and the levels that chips have of them. */
#include "decode/mmu.h"
#include "decode/mmu_coding.h"
#include "hw/mmu.h"

static const struct nvdebug_mmu_coding ver1 = {
	.half_bits = 32,
	.shift = NV_MMU_VER1_ADDRESS_SHIFT,
	.table = {
		.aperture = NV_MMU_VER1_PDE_APERTURE,
		.vid = NV_MMU_VER1_PDE_ADDRESS_VID,
		.sys = NV_MMU_VER1_PDE_ADDRESS_SYS,
	},
	.big = {
		.aperture = NV_MMU_VER1_PDE_APERTURE,
		.vid = NV_MMU_VER1_PDE_ADDRESS_VID,
		.sys = NV_MMU_VER1_PDE_ADDRESS_SYS,
	},
	.size = NV_MMU_VER1_PDE_LO_SIZE,
	/*
	 * Sparse entries exist on GM20x; no other use of these bits is known.
	 */
	.sparse_dual = {
		NV_MMU_VER1_PDE_HI_VOL_BIG << 32,
		NV_MMU_VER1_PDE_HI_VOL_BIG << 32,
	},
	.page_vid = NV_MMU_VER1_PTE_ADDRESS_VID,
	.page_sys = NV_MMU_VER1_PTE_ADDRESS_SYS,
	.aperture = NV_MMU_VER1_PTE_APERTURE,
	.peer = NV_MMU_VER1_PTE_PEER,
	.kind = NV_MMU_VER1_PTE_KIND,
	.privileged = NV_MMU_VER1_PTE_PRIVILEGE,
	.read_only = NV_MMU_VER1_PTE_READ_ONLY,
	.uncached = NV_MMU_VER1_PTE_VOL,
	.compressed = NV_MMU_VER1_PTE_COMPTAGLINE,
	.sparse = { NV_MMU_VER1_PTE_VOL, NV_MMU_VER1_PTE_VOL },
	.no_small = { NV_MMU_VER1_PTE_PRIVILEGE, NV_MMU_VER1_PTE_PRIVILEGE },
};

#define VER2							\
	.half_bits = 64,					\
	.shift = NV_MMU_VER2_ADDRESS_SHIFT,			\
	.table = {						\
		.aperture = NV_MMU_VER2_PDE_APERTURE,		\
		.vid = NV_MMU_VER2_PDE_ADDRESS_VID,		\
		.sys = NV_MMU_VER2_PDE_ADDRESS_SYS,		\
	},							\
	.big = {						\
		.aperture = NV_MMU_VER2_PDE_APERTURE,		\
		.vid = NV_MMU_VER2_DUAL_PDE_ADDRESS_BIG_VID,	\
		.sys = NV_MMU_VER2_DUAL_PDE_ADDRESS_BIG_SYS,	\
	},							\
	.sparse_table = { NV_MMU_VER2_PDE_VOL, NV_MMU_VER2_PDE_VOL },	\
	.sparse_dual = { NV_MMU_VER2_PDE_VOL, NV_MMU_VER2_PDE_VOL },	\
	.page_vid = NV_MMU_VER2_PTE_ADDRESS_VID,		\
	.aperture = NV_MMU_VER2_PTE_APERTURE,			\
	.peer = NV_MMU_VER2_PTE_PEER,				\
	.kind = NV_MMU_VER2_PTE_KIND,				\
	.privileged = NV_MMU_VER2_PTE_PRIVILEGE,		\
	.read_only = NV_MMU_VER2_PTE_READ_ONLY,			\
	.no_atomics = NV_MMU_VER2_PTE_ATOMIC_DISABLE,		\
	.uncached = NV_MMU_VER2_PTE_VOL,			\
	.compressed = NV_MMU_VER2_PTE_COMPTAGLINE,		\
	.sparse = { NV_MMU_VER2_PTE_VOL, NV_MMU_VER2_PTE_VOL },	\
	.no_small = { NV_MMU_VER2_PTE_PRIVILEGE, NV_MMU_VER2_PTE_PRIVILEGE }

static const struct nvdebug_mmu_coding ver2_gp100 = {
	VER2,
	.page_sys = NV_MMU_VER2_PTE_ADDRESS_SYS,
};

static const struct nvdebug_mmu_coding ver2_gp10b = {
	VER2,
	.page_sys = NV_MMU_VER2_PTE_ADDRESS_SYS_GP10B,
};

static const struct nvdebug_mmu_coding ver2_tu102 = {
	VER2,
	.page_sys = NV_MMU_VER2_PTE_ADDRESS_SYS,
	.compressed_first = NV_MMU_PTE_KIND_COMPRESSIBLE_FIRST_TU102,
	.compressed_last = NV_MMU_PTE_KIND_COMPRESSIBLE_LAST_TU102,
};

static const struct nvdebug_mmu_coding ver3 = {
	.half_bits = 64,
	.table = {
		.aperture = NV_MMU_VER3_PDE_APERTURE,
		.vid = NV_MMU_VER3_PDE_ADDRESS,
		.sys = NV_MMU_VER3_PDE_ADDRESS,
	},
	.big = {
		.aperture = NV_MMU_VER3_PDE_APERTURE,
		.vid = NV_MMU_VER3_DUAL_PDE_ADDRESS_BIG,
		.sys = NV_MMU_VER3_DUAL_PDE_ADDRESS_BIG,
	},
	.sparse_table = {
		NV_MMU_VER3_PDE_PCF & ~NV_MMU_VER3_PDE_PCF_ATS,
		NV_MMU_VER3_PDE_PCF_SPARSE,
	},
	.sparse_dual = {
		NV_MMU_VER3_PDE_PCF & ~NV_MMU_VER3_PDE_PCF_ATS,
		NV_MMU_VER3_PDE_PCF_SPARSE,
	},
	.page_vid = NV_MMU_VER3_PTE_ADDRESS,
	.page_sys = NV_MMU_VER3_PTE_ADDRESS,
	.aperture = NV_MMU_VER3_PTE_APERTURE,
	.peer = NV_MMU_VER3_PTE_PEER,
	.kind = NV_MMU_VER3_PTE_KIND,
	.privileged = NV_MMU_VER3_PTE_PCF_PRIVILEGE,
	.read_only = NV_MMU_VER3_PTE_PCF_READ_ONLY,
	.no_atomics = NV_MMU_VER3_PTE_PCF_NO_ATOMIC,
	.uncached = NV_MMU_VER3_PTE_PCF_UNCACHED,
	.compressed_first = NV_MMU_PTE_KIND_COMPRESSIBLE_FIRST_TU102,
	.compressed_last = NV_MMU_PTE_KIND_COMPRESSIBLE_LAST_TU102,
	.sparse = { NV_MMU_VER3_PTE_PCF, NV_MMU_VER3_PTE_PCF_SPARSE },
	/*
	 * This matches NO_VALID_4KB_PAGE, and MAPPING_NOWHERE, which by its
	 * name is a mapping, so small pages are not used either (inferred).
	 */
	.no_small = {
		NV_MMU_VER3_PTE_PCF & ~(NV_MMU_VER3_PTE_PCF_NO_VALID_4KB_PAGE ^
					NV_MMU_VER3_PTE_PCF_MAPPING_NOWHERE),
		NV_MMU_VER3_PTE_PCF_MAPPING_NOWHERE,
	},
};

const struct nvdebug_mmu_format nvdebug_mmu_gk104_64k = {
	.version = 1,
	.va_bits = 40,
	.directories = 1,
	.directory = { { "PD0", 26, 14 } },
	.big = { "PT64K", 16, 10 },
	.small = { "PT4K", 12, 14 },
	.coding = &ver1,
};

const struct nvdebug_mmu_format nvdebug_mmu_gk104_128k = {
	.version = 1,
	.va_bits = 40,
	.directories = 1,
	.directory = { { "PD0", 27, 13 } },
	.big = { "PT128K", 17, 10 },
	.small = { "PT4K", 12, 15 },
	.coding = &ver1,
};

#define BIG_64K		{ "PT64K", 16, 5 }
#define BIG_128K	{ "PT128K", 17, 4 }
#define SMALL_4K	{ "PT4K", 12, 9 }

const struct nvdebug_mmu_format nvdebug_mmu_gp100 = {
	.version = 2,
	.va_bits = 49,
	.directories = 4,
	.directory = {
		{ "PD3", 47, 2 }, { "PD2", 38, 9 }, { "PD1", 29, 9 },
		{ "PD0", 21, 8, true },
	},
	.big = BIG_64K,
	.small = SMALL_4K,
	.coding = &ver2_gp100,
};

const struct nvdebug_mmu_format nvdebug_mmu_gp100_128k = {
	.version = 2,
	.va_bits = 49,
	.directories = 4,
	.directory = {
		{ "PD3", 47, 2 }, { "PD2", 38, 9 }, { "PD1", 29, 9 },
		{ "PD0", 21, 8, true },
	},
	.big = BIG_128K,
	.small = SMALL_4K,
	.coding = &ver2_gp100,
};

const struct nvdebug_mmu_format nvdebug_mmu_gp10b = {
	.version = 2,
	.va_bits = 49,
	.directories = 4,
	.directory = {
		{ "PD3", 47, 2 }, { "PD2", 38, 9 }, { "PD1", 29, 9 },
		{ "PD0", 21, 8, true },
	},
	.big = BIG_64K,
	.small = SMALL_4K,
	.coding = &ver2_gp10b,
};

const struct nvdebug_mmu_format nvdebug_mmu_gp10b_128k = {
	.version = 2,
	.va_bits = 49,
	.directories = 4,
	.directory = {
		{ "PD3", 47, 2 }, { "PD2", 38, 9 }, { "PD1", 29, 9 },
		{ "PD0", 21, 8, true },
	},
	.big = BIG_128K,
	.small = SMALL_4K,
	.coding = &ver2_gp10b,
};

const struct nvdebug_mmu_format nvdebug_mmu_tu102 = {
	.version = 2,
	.va_bits = 49,
	.directories = 4,
	.directory = {
		{ "PD3", 47, 2 }, { "PD2", 38, 9 }, { "PD1", 29, 9 },
		{ "PD0", 21, 8, true },
	},
	.big = BIG_64K,
	.small = SMALL_4K,
	.coding = &ver2_tu102,
};

const struct nvdebug_mmu_format nvdebug_mmu_ga100 = {
	.version = 2,
	.va_bits = 49,
	.directories = 4,
	.directory = {
		{ "PD3", 47, 2 }, { "PD2", 38, 9 }, { "PD1", 29, 9, true },
		{ "PD0", 21, 8, true },
	},
	.big = BIG_64K,
	.small = SMALL_4K,
	.coding = &ver2_tu102,
};

const struct nvdebug_mmu_format nvdebug_mmu_gh100 = {
	.version = 3,
	.va_bits = 57,
	.directories = 5,
	.directory = {
		{ "PD4", 56, 1 }, { "PD3", 47, 9 }, { "PD2", 38, 9 },
		{ "PD1", 29, 9, true }, { "PD0", 21, 8, true },
	},
	.big = BIG_64K,
	.small = SMALL_4K,
	.coding = &ver3,
};

const struct nvdebug_mmu_format nvdebug_mmu_gb100 = {
	.version = 3,
	.va_bits = 57,
	.directories = 5,
	.directory = {
		{ "PD4", 56, 1 }, { "PD3", 47, 9 }, { "PD2", 38, 9, true },
		{ "PD1", 29, 9, true }, { "PD0", 21, 8, true },
	},
	.big = BIG_64K,
	.small = SMALL_4K,
	.coding = &ver3,
};
