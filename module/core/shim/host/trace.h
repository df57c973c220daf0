/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Replaces the real host/trace.h: the shim has no tracepoints. */
#ifndef SHIM_HOST_TRACE_H
#define SHIM_HOST_TRACE_H

struct nvdebug_gpu;

static inline void shim_no_trace(const struct nvdebug_gpu *gpu, ...)
{
	(void)gpu;
}

#define trace_channel_enable	shim_no_trace
#define trace_preempt		shim_no_trace
#define trace_preemption_mode	shim_no_trace
#define trace_runlist_submit	shim_no_trace
#define trace_scheduling	shim_no_trace
#define trace_timeslice		shim_no_trace

#endif
