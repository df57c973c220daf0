/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What the chip was designed with, what of it is off, and how much memory it
 * has. Read once, at creation: it does not change while the GPU has power.
 */
#ifndef NVDEBUG_GPC_TOPOLOGY_H
#define NVDEBUG_GPC_TOPOLOGY_H

#include <linux/types.h>

struct nvdebug_gpu;

enum nvdebug_count {
	NVDEBUG_NUM_GPCS,
	NVDEBUG_NUM_TPC_PER_GPC,
	NVDEBUG_NUM_CES,
	NVDEBUG_NUM_FBPS,
	NVDEBUG_NUM_LTCS,
	NVDEBUG_COUNTS
};

#define NVDEBUG_GPCS_MAX	32

/* A value, or the error of the register that would tell. */
struct nvdebug_number {
	u32 value;
	int error;
};

struct nvdebug_geometry {
	struct nvdebug_number count[NVDEBUG_COUNTS];
	struct nvdebug_number gpc_mask;			/* set: off */
	struct nvdebug_number tpc_mask[NVDEBUG_GPCS_MAX];	/* by physical GPC */
};

struct nvdebug_geometry_ops {
	/*
	 * Registers of what is off, ORed if there are two: of GPCs, and the
	 * first of those of TPCs, one for each GPC.
	 */
	u32 gpc_reg[2];
	u32 tpc_reg[2];
	bool has_ltcs;
};

extern const struct nvdebug_geometry_ops nvdebug_geometry_gk104;
extern const struct nvdebug_geometry_ops nvdebug_geometry_gm107;
extern const struct nvdebug_geometry_ops nvdebug_geometry_gm200;
extern const struct nvdebug_geometry_ops nvdebug_geometry_ga100;

/* The register of the size of video memory. */
struct nvdebug_video_memory_ops {
	u32 reg;
	u64 (*bytes)(u32 word);
};

extern const struct nvdebug_video_memory_ops nvdebug_video_memory_ops_gp102;
extern const struct nvdebug_video_memory_ops nvdebug_video_memory_ops_ga102;

extern const struct nvdebug_view nvdebug_num_gpcs_view;
extern const struct nvdebug_view nvdebug_num_tpc_per_gpc_view;
extern const struct nvdebug_view nvdebug_num_ces_view;
extern const struct nvdebug_view nvdebug_num_fbps_view;
extern const struct nvdebug_view nvdebug_num_ltcs_view;
extern const struct nvdebug_view nvdebug_gpc_mask_view;
extern const struct nvdebug_view nvdebug_tpc_mask_view;
extern const struct nvdebug_view nvdebug_local_memory_view;

void nvdebug_geometry_survey(struct nvdebug_gpu *gpu);

bool nvdebug_gpc_nth(struct nvdebug_gpu *gpu, u32 n, u32 *gpc);
bool nvdebug_ltcs_exist(const struct nvdebug_gpu *gpu);
bool nvdebug_local_memory_exists(const struct nvdebug_gpu *gpu);

#endif
