/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * How the compute work of a context may be interrupted.
 */
#ifndef NVDEBUG_PREEMPTION_H
#define NVDEBUG_PREEMPTION_H

extern const struct nvdebug_control nvdebug_preemption_mode_control;

#endif
