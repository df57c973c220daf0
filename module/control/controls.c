// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/kernel.h>

#include "control/controls.h"
#include "core/gpu.h"

const struct nvdebug_control_file nvdebug_control_files[] = {
	{
		.name = "translate",
		.feature = NVDEBUG_FEATURE_CONTEXTS,
		.control = &nvdebug_translate_control,
	}, {
		.name = "disable_channel",
		.feature = NVDEBUG_FEATURE_CHANNEL_CONTROL,
		.control = &nvdebug_disable_channel_control,
	}, {
		.name = "enable_channel",
		.feature = NVDEBUG_FEATURE_CHANNEL_CONTROL,
		.control = &nvdebug_enable_channel_control,
	}, {
		.name = "preempt_tsg",
		.feature = NVDEBUG_FEATURE_RUNLIST_CONTROL,
		.control = &nvdebug_preempt_tsg_control,
	}, {
		.name = "switch_to_tsg",
		.feature = NVDEBUG_FEATURE_RUNLIST_CONTROL,
		.control = &nvdebug_switch_to_tsg_control,
	}, {
		.name = "set_timeslice",
		.feature = NVDEBUG_FEATURE_RUNLIST_CONTROL,
		.control = &nvdebug_set_timeslice_control,
	}, {
		.name = "preempt_runlist",
		.feature = NVDEBUG_FEATURE_RUNLIST_CONTROL,
		.control = &nvdebug_preempt_runlist_control,
	}, {
		.name = "resubmit_runlist",
		.feature = NVDEBUG_FEATURE_RUNLIST_CONTROL,
		.control = &nvdebug_resubmit_runlist_control,
	}, {
		.name = "scheduling",
		.feature = NVDEBUG_FEATURE_RUNLIST_CONTROL,
		.view = &nvdebug_scheduling_view,
		.control = &nvdebug_scheduling_control,
	}, {
		.name = "preemption_mode",
		.feature = NVDEBUG_FEATURE_PREEMPTION_MODE,
		.control = &nvdebug_preemption_mode_control,
	},
};

const size_t nvdebug_control_files_count = ARRAY_SIZE(nvdebug_control_files);
