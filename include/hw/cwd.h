/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * CWD, the compute work distributor: the numbers of SMs, and their partitions
 * between subcontexts.
 *
 * Sources: open-gpu-doc manuals/{volta/gv100,turing/tu104,ampere/ga100}/
 * pri_cwd.ref.txt; for Maxwell, which has fewer words and no partitioning,
 * linux-nvgpu include/nvgpu/hw/gm20b/hw_gr_gm20b.h, for Pascal hw/gp10b. From
 * Hopper on the tables are elsewhere, and longer: the nvgpu of NVIDIA's 2025
 * Jetson kernels, hw/gb10b/hw_gr_gb10b.h. An H100 has them there, too, in the
 * order of SMs in NVIDIA's driver. GB20C (hw/gb20c/hw_gr_gb20c.h) has SM_ID
 * there and no GPC_TPC_ID.
 */
#ifndef NVDEBUG_HW_CWD_H
#define NVDEBUG_HW_CWD_H

#include <linux/bits.h>

#define NV_PGRAPH_PRI_CWD_FS			0x00405b00 /* RW */
#define  NV_PGRAPH_PRI_CWD_FS_NUM_GPCS		GENMASK(7, 0)
#define  NV_PGRAPH_PRI_CWD_FS_NUM_TPCS		GENMASK(15, 8)
#define NV_PGRAPH_PRI_CWD_PARTITION_CTL		0x00405b2c /* RW, Volta+ */
#define  NV_PGRAPH_PRI_CWD_PARTITION_CTL_PARTITIONING_SELECT GENMASK(1, 0)
/* PARTITION_DATA is a window into tables, and these fields are its index. */
#define  NV_PGRAPH_PRI_CWD_PARTITION_CTL_TBL_SEL GENMASK(3, 2)
#define  NV_PGRAPH_PRI_CWD_PARTITION_CTL_VEID_OFFSET GENMASK(21, 16)
#define  NV_PGRAPH_PRI_CWD_PARTITION_CTL_TBL_OFFSET GENMASK(29, 24)

/* The place of each TPC by its id: eight bits each, four to a word. */
#define NV_PGRAPH_PRI_CWD_GPC_TPC_ID(i)		(0x00405b60 + 4 * (i)) /* RW */
#define  NV_PGRAPH_PRI_CWD_GPC_TPC_ID_TPC	GENMASK(3, 0)
#define  NV_PGRAPH_PRI_CWD_GPC_TPC_ID_GPC	GENMASK(7, 4)
/* The reverse: the TPC id of each place. */
#define NV_PGRAPH_PRI_CWD_SM_ID(i)		(0x00405ba0 + 4 * (i)) /* RW */
#define NV_PGRAPH_PRI_CWD_SM_ID__SIZE_1		16
#define NV_PGRAPH_PRI_CWD_SM_ID__SIZE_1_GM200	6

/* The places of these two tables from Hopper on. */
#define NV_PGRAPH_PRI_CWD_GPC_TPC_ID_GH100(i)	(0x00405000 + 4 * (i)) /* RW */
#define NV_PGRAPH_PRI_CWD_GPC_TPC_ID__SIZE_1_GH100 18 /* measured */
#define NV_PGRAPH_PRI_CWD_GPC_TPC_ID__SIZE_1_GB10B 64 /* no more fit */
#define NV_PGRAPH_PRI_CWD_SM_ID_GH100(i)	(0x00405100 + 4 * (i)) /* RW */
#define NV_PGRAPH_PRI_CWD_SM_ID__SIZE_1_GH100	24

#endif
