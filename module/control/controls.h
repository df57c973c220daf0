/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * All controls, and their files.
 */
#ifndef NVDEBUG_CONTROL_CONTROLS_H
#define NVDEBUG_CONTROL_CONTROLS_H

#include <linux/types.h>

#include "core/control.h"
#include "core/view.h"

struct nvdebug_control_file {
	const char *name;
	int feature;			/* needed */
	const struct nvdebug_control *control;
	const struct nvdebug_view *view;	/* to read its state, or NULL */
};

extern const struct nvdebug_control_file nvdebug_control_files[];
extern const size_t nvdebug_control_files_count;

extern const struct nvdebug_control nvdebug_translate_control;
extern const struct nvdebug_control nvdebug_disable_channel_control;
extern const struct nvdebug_control nvdebug_enable_channel_control;
extern const struct nvdebug_control nvdebug_preempt_tsg_control;
extern const struct nvdebug_control nvdebug_switch_to_tsg_control;
extern const struct nvdebug_control nvdebug_set_timeslice_control;
extern const struct nvdebug_control nvdebug_preempt_runlist_control;
extern const struct nvdebug_control nvdebug_resubmit_runlist_control;
extern const struct nvdebug_control nvdebug_scheduling_control;
extern const struct nvdebug_control nvdebug_preemption_mode_control;
extern const struct nvdebug_view nvdebug_scheduling_view;

#endif
