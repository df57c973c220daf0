/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * All views, and their files.
 */
#ifndef NVDEBUG_VIEWS_VIEWS_H
#define NVDEBUG_VIEWS_VIEWS_H

#include <linux/types.h>

#include "core/view.h"

/* A file, or a group of files with one number each. */
struct nvdebug_view_file {
	const char *name;	/* has %u if there is a file for each number */
	/*
	 * The file shows scheduling state; else data read when the GPU was
	 * probed.
	 */
	bool state;
	int feature;		/* feature that it needs; -1: none */
	const struct nvdebug_view *view;
	/* Get the number of the @n-th file. NULL: there is one file. */
	bool (*nth)(struct nvdebug_gpu *gpu, u32 n, u32 *number);
	/*
	 * Return whether the file exists, if its feature does. NULL: it does.
	 */
	bool (*exists)(const struct nvdebug_gpu *gpu);
};

extern const struct nvdebug_view_file nvdebug_view_files[];
extern const size_t nvdebug_view_files_count;

/*
 * The views of the files in /proc/gpuX. A view is defined in the file of its
 * name, or in runlist.c, device_info.c or copy_topology.c (the views of PCEs,
 * the physical copy engines, and of GRCEs, which LCEs of graphics runlists are).
 */
extern const struct nvdebug_view nvdebug_contexts_view;
extern const struct nvdebug_view nvdebug_engines_view;
extern const struct nvdebug_view nvdebug_engines_brief_view;
extern const struct nvdebug_view nvdebug_num_gpcs_view;
extern const struct nvdebug_view nvdebug_num_tpc_per_gpc_view;
extern const struct nvdebug_view nvdebug_num_ces_view;
extern const struct nvdebug_view nvdebug_num_fbps_view;
extern const struct nvdebug_view nvdebug_num_ltcs_view;
extern const struct nvdebug_view nvdebug_gpc_mask_view;
extern const struct nvdebug_view nvdebug_tpc_mask_view;
extern const struct nvdebug_view nvdebug_local_memory_view;
extern const struct nvdebug_view nvdebug_ptimer_view;
extern const struct nvdebug_view nvdebug_sm_map_view;
extern const struct nvdebug_view nvdebug_work_distributor_view;
extern const struct nvdebug_view nvdebug_runlist_view;
extern const struct nvdebug_view nvdebug_runlist_brief_view;
extern const struct nvdebug_view nvdebug_device_info_view;
extern const struct nvdebug_view nvdebug_pce_map_view;
extern const struct nvdebug_view nvdebug_pce_lce_view;
extern const struct nvdebug_view nvdebug_grce_lce_view;
extern const struct nvdebug_view nvdebug_copy_topology_view;

/*
 * Get the number in the name of the @n-th file. Returns false if there are no
 * more.
 */
bool nvdebug_pce_nth(struct nvdebug_gpu *gpu, u32 n, u32 *pce);
bool nvdebug_grce_nth(struct nvdebug_gpu *gpu, u32 n, u32 *grce);
bool nvdebug_gpc_nth(struct nvdebug_gpu *gpu, u32 n, u32 *gpc);

bool nvdebug_ltcs_exist(const struct nvdebug_gpu *gpu);
bool nvdebug_local_memory_exists(const struct nvdebug_gpu *gpu);
bool nvdebug_ptimer_exists(const struct nvdebug_gpu *gpu);

#endif
