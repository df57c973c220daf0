/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The compute work distributor: which SM is where, and how SMs are shared out.
 */
#ifndef NVDEBUG_WORK_DISTRIBUTOR_H
#define NVDEBUG_WORK_DISTRIBUTOR_H

#include <linux/types.h>

struct nvdebug_gpu;

struct nvdebug_cwd_ops {
	u32 gpc_tpc_id;		/* registers */
	u32 sm_id;
	u32 gpc_tpc_words;	/* most that there can be */
	u32 sm_words;
	u32 sms_per_tpc;
	bool has_partitions;
	bool fitted;	/* there are no more GPC_TPC_ID words than TPCs need */
};

extern const struct nvdebug_cwd_ops nvdebug_cwd_gm200;
extern const struct nvdebug_cwd_ops nvdebug_cwd_gp100;
extern const struct nvdebug_cwd_ops nvdebug_cwd_gv100;
extern const struct nvdebug_cwd_ops nvdebug_cwd_gh100;
extern const struct nvdebug_cwd_ops nvdebug_cwd_gb100;

extern const struct nvdebug_view nvdebug_sm_map_view;
extern const struct nvdebug_view nvdebug_work_distributor_view;

#endif
