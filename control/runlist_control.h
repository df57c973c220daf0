/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The control files of runlists.
 */
#ifndef NVDEBUG_RUNLIST_CONTROL_H
#define NVDEBUG_RUNLIST_CONTROL_H

extern const struct nvdebug_control nvdebug_preempt_runlist_control;
extern const struct nvdebug_control nvdebug_resubmit_runlist_control;
extern const struct nvdebug_control nvdebug_scheduling_control;
extern const struct nvdebug_view nvdebug_scheduling_view;

#endif
