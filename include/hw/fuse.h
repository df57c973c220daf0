/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Fuses: the GPCs, and the TPCs of a GPC, that are off. A set bit means off;
 * the index of a GPC is its physical number.
 *
 * Sources: Kepler, where separate registers show the units that the hardware
 * and that software took off: envytools rnndb/bus/punits.xml and linux-nvgpu
 * include/nvgpu/hw/gk20a/hw_top_gk20a.h; Maxwell to Turing, Ampere:
 * hw/{gm20b,tu104,ga100}/hw_fuse_*.h. From Hopper on inferred: the block is in
 * the same place (open-gpu-kernel-modules src/common/inc/swref/published/
 * {hopper/gh100,blackwell/gb100}/hwproject.h), and GB10B publishes
 * STATUS_OPT_GPC where Ampere has it (blackwell/gb10b/dev_fuse.h).
 */
#ifndef NVDEBUG_HW_FUSE_H
#define NVDEBUG_HW_FUSE_H

#define NV_PTOP_FS_GPC_GK104			0x00022504 /* R- */
#define NV_PTOP_FS_GPC_SW_GK104			0x00022584 /* RW */
#define NV_PTOP_FS_TPC_GPC_GK104		0x00022508 /* R-, + 4 i */
#define NV_PTOP_FS_TPC_GPC_SW_GK104		0x00022588 /* RW, + 4 i */
#define NV_FUSE_STATUS_OPT_GPC_GM107		0x00021c1c /* R- */
#define NV_FUSE_STATUS_OPT_TPC_GPC_GM107	0x00021c38 /* R-, + 4 i */
#define NV_FUSE_STATUS_OPT_GPC_GA100		0x00820c1c /* R- */
#define NV_FUSE_STATUS_OPT_TPC_GPC_GA100	0x00820c38 /* R-, + 4 i */

#endif
