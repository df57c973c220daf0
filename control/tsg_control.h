/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The control files of TSGs.
 */
#ifndef NVDEBUG_TSG_CONTROL_H
#define NVDEBUG_TSG_CONTROL_H

extern const struct nvdebug_control nvdebug_preempt_tsg_control;
extern const struct nvdebug_control nvdebug_switch_to_tsg_control;
extern const struct nvdebug_control nvdebug_set_timeslice_control;

#endif
