// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/kernel.h>

#include "core/gpu.h"
#include "views/views.h"

static bool runlist_nth(struct nvdebug_gpu *gpu, u32 n, u32 *number)
{
	if (n >= gpu->topology.runlists)
		return false;
	*number = gpu->topology.runlist[n].id;
	return true;
}

/*
 * Files without .state are world readable: their data was read when the GPU was
 * probed, and showing it does not access the GPU.
 */
const struct nvdebug_view_file nvdebug_view_files[] = {
	{
		.name = "device_info",
		.feature = NVDEBUG_FEATURE_DEVICE_INFO,
		.view = &nvdebug_device_info_view,
	}, {
		.name = "runlist%u",
		.state = true,
		.feature = NVDEBUG_FEATURE_RUNLIST,
		.view = &nvdebug_runlist_view,
		.nth = runlist_nth,
	}, {
		.name = "engines",
		.state = true,
		.feature = NVDEBUG_FEATURE_ENGINES,
		.view = &nvdebug_engines_view,
	}, {
		.name = "runlist%u_brief",
		.state = true,
		.feature = NVDEBUG_FEATURE_RUNLIST,
		.view = &nvdebug_runlist_brief_view,
		.nth = runlist_nth,
	}, {
		.name = "contexts",
		.state = true,
		.feature = NVDEBUG_FEATURE_CONTEXTS,
		.view = &nvdebug_contexts_view,
	}, {
		.name = "pce_map",
		.state = true,
		.feature = NVDEBUG_FEATURE_COPY_TOPOLOGY,
		.view = &nvdebug_pce_map_view,
	}, {
		.name = "lce_for_pce%u",
		.state = true,
		.feature = NVDEBUG_FEATURE_COPY_TOPOLOGY,
		.view = &nvdebug_pce_lce_view,
		.nth = nvdebug_pce_nth,
	}, {
		.name = "shared_lce_for_grce%u",
		.state = true,
		.feature = NVDEBUG_FEATURE_COPY_TOPOLOGY,
		.view = &nvdebug_grce_lce_view,
		.nth = nvdebug_grce_nth,
	}, {
		.name = "copy_topology",
		.state = true,
		.feature = NVDEBUG_FEATURE_COPY_TOPOLOGY,
		.view = &nvdebug_copy_topology_view,
	}, {
		.name = "num_gpcs",
		.feature = NVDEBUG_FEATURE_GPC_TOPOLOGY,
		.view = &nvdebug_num_gpcs_view,
	}, {
		.name = "num_tpc_per_gpc",
		.feature = NVDEBUG_FEATURE_GPC_TOPOLOGY,
		.view = &nvdebug_num_tpc_per_gpc_view,
	}, {
		.name = "num_ces",
		.feature = NVDEBUG_FEATURE_GPC_TOPOLOGY,
		.view = &nvdebug_num_ces_view,
	}, {
		.name = "num_fbps",
		.feature = NVDEBUG_FEATURE_GPC_TOPOLOGY,
		.view = &nvdebug_num_fbps_view,
	}, {
		.name = "num_ltcs",
		.feature = NVDEBUG_FEATURE_GPC_TOPOLOGY,
		.view = &nvdebug_num_ltcs_view,
		.exists = nvdebug_ltcs_exist,
	}, {
		.name = "gpc_mask",
		.feature = NVDEBUG_FEATURE_GPC_TOPOLOGY,
		.view = &nvdebug_gpc_mask_view,
	}, {
		.name = "gpc%u_tpc_mask",
		.feature = NVDEBUG_FEATURE_GPC_TOPOLOGY,
		.view = &nvdebug_tpc_mask_view,
		.nth = nvdebug_gpc_nth,
	}, {
		.name = "sm_map",
		.state = true,
		.feature = NVDEBUG_FEATURE_WORK_DISTRIBUTOR,
		.view = &nvdebug_sm_map_view,
	}, {
		.name = "work_distributor",
		.state = true,
		.feature = NVDEBUG_FEATURE_WORK_DISTRIBUTOR,
		.view = &nvdebug_work_distributor_view,
	}, {
		.name = "local_memory",
		.feature = -1,
		.view = &nvdebug_local_memory_view,
		.exists = nvdebug_local_memory_exists,
	}, {
		.name = "ptimer",
		.state = true,
		.feature = -1,
		.view = &nvdebug_ptimer_view,
		.exists = nvdebug_ptimer_exists,
	},
};

const size_t nvdebug_view_files_count = ARRAY_SIZE(nvdebug_view_files);
