/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * CWD, the compute work distributor: how SMs are numbered, and how they are
 * partitioned between subcontexts.
 *
 * Sources: open-gpu-doc manuals/{volta/gv100,turing/tu104,ampere/ga100}/
 * pri_cwd.ref.txt; for Maxwell, which has fewer words and no partitioning,
 * linux-nvgpu include/nvgpu/hw/gm20b/hw_gr_gm20b.h, for Pascal hw/gp10b.
 */
#ifndef NVDEBUG_HW_CWD_H
#define NVDEBUG_HW_CWD_H

#include <linux/bits.h>

#define NV_PGRAPH_PRI_CWD_FS			0x00405b00 /* RW */
#define  NV_PGRAPH_PRI_CWD_FS_NUM_GPCS		GENMASK(7, 0)
#define  NV_PGRAPH_PRI_CWD_FS_NUM_TPCS		GENMASK(15, 8)
#define NV_PGRAPH_PRI_CWD_PARTITION_CTL		0x00405b2c /* RW, Volta+ */
#define  NV_PGRAPH_PRI_CWD_PARTITION_CTL_PARTITIONING_SELECT GENMASK(1, 0)
/* what PARTITION_DATA, an index into which these three are, shows */
#define  NV_PGRAPH_PRI_CWD_PARTITION_CTL_TBL_SEL GENMASK(3, 2)
#define  NV_PGRAPH_PRI_CWD_PARTITION_CTL_VEID_OFFSET GENMASK(21, 16)
#define  NV_PGRAPH_PRI_CWD_PARTITION_CTL_TBL_OFFSET GENMASK(29, 24)

/* By TPC id, four to a word of eight bits each: where the TPC is. */
#define NV_PGRAPH_PRI_CWD_GPC_TPC_ID(i)		(0x00405b60 + 4 * (i)) /* RW */
#define  NV_PGRAPH_PRI_CWD_GPC_TPC_ID_TPC	GENMASK(3, 0)
#define  NV_PGRAPH_PRI_CWD_GPC_TPC_ID_GPC	GENMASK(7, 4)
/* The other way round. */
#define NV_PGRAPH_PRI_CWD_SM_ID(i)		(0x00405ba0 + 4 * (i)) /* RW */
#define NV_PGRAPH_PRI_CWD_SM_ID__SIZE_1		16
#define NV_PGRAPH_PRI_CWD_SM_ID__SIZE_1_GM200	6

#endif
