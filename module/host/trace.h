/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Tracepoints of the changes that the module makes on a GPU. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM nvdebug

#if !defined(NVDEBUG_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define NVDEBUG_TRACE_H

#include <linux/device.h>
#include <linux/tracepoint.h>

#include "access/device.h"
#include "compat/compat.h"

/*
 * A channel was enabled or disabled. @runlist is -1 where channel ids are those
 * of the whole GPU.
 */
TRACE_EVENT(channel_enable,
	    TP_PROTO(const struct nvdebug_gpu *gpu, int runlist, u32 channel,
		     bool enable, u32 old, u32 new),
	    TP_ARGS(gpu, runlist, channel, enable, old, new),
	    TP_STRUCT__entry(__string(dev, dev_name(nvdebug_device(gpu)->dev))
			     __field(int, runlist)
			     __field(u32, channel)
			     __field(bool, enable)
			     __field(u32, old)
			     __field(u32, new)),
	    TP_fast_assign(nvdebug_assign_str(dev, dev_name(nvdebug_device(gpu)->dev));
			   __entry->runlist = runlist;
			   __entry->channel = channel;
			   __entry->enable = enable;
			   __entry->old = old;
			   __entry->new = new;),
	    TP_printk("%s runlist=%d channel=%u %s old=0x%08x new=0x%08x",
		      __get_str(dev), __entry->runlist, __entry->channel,
		      __entry->enable ? "enable" : "disable",
		      __entry->old, __entry->new)
);

/*
 * A word that a control of TSGs or runlists writes. @where is the offset of a
 * register or the address of memory; @tsg is -1 if the word does not concern a
 * TSG.
 */
DECLARE_EVENT_CLASS(runlist_write,
		    TP_PROTO(const struct nvdebug_gpu *gpu, u32 runlist, int tsg,
			     u64 where, u32 old, u32 new),
		    TP_ARGS(gpu, runlist, tsg, where, old, new),
		    TP_STRUCT__entry(__string(dev, dev_name(nvdebug_device(gpu)->dev))
				     __field(u32, runlist)
				     __field(int, tsg)
				     __field(u64, where)
				     __field(u32, old)
				     __field(u32, new)),
		    TP_fast_assign(nvdebug_assign_str(dev, dev_name(nvdebug_device(gpu)->dev));
				   __entry->runlist = runlist;
				   __entry->tsg = tsg;
				   __entry->where = where;
				   __entry->old = old;
				   __entry->new = new;),
		    TP_printk("%s runlist=%u tsg=%d where=0x%llx old=0x%08x new=0x%08x",
			      __get_str(dev), __entry->runlist, __entry->tsg,
			      __entry->where, __entry->old, __entry->new)
);

DEFINE_EVENT(runlist_write, runlist_submit,
	     TP_PROTO(const struct nvdebug_gpu *gpu, u32 runlist, int tsg, u64 where,
		      u32 old, u32 new),
	     TP_ARGS(gpu, runlist, tsg, where, old, new)
);

DEFINE_EVENT(runlist_write, preempt,
	     TP_PROTO(const struct nvdebug_gpu *gpu, u32 runlist, int tsg, u64 where,
		      u32 old, u32 new),
	     TP_ARGS(gpu, runlist, tsg, where, old, new)
);

DEFINE_EVENT(runlist_write, timeslice,
	     TP_PROTO(const struct nvdebug_gpu *gpu, u32 runlist, int tsg, u64 where,
		      u32 old, u32 new),
	     TP_ARGS(gpu, runlist, tsg, where, old, new)
);

DEFINE_EVENT(runlist_write, scheduling,
	     TP_PROTO(const struct nvdebug_gpu *gpu, u32 runlist, int tsg, u64 where,
		      u32 old, u32 new),
	     TP_ARGS(gpu, runlist, tsg, where, old, new)
);

/*
 * The preemption mode was written to the word at @where in the context image of
 * a channel.
 */
TRACE_EVENT(preemption_mode,
	    TP_PROTO(const struct nvdebug_gpu *gpu, u32 runlist, u32 channel,
		     u64 where, u32 old, u32 new),
	    TP_ARGS(gpu, runlist, channel, where, old, new),
	    TP_STRUCT__entry(__string(dev, dev_name(nvdebug_device(gpu)->dev))
			     __field(u32, runlist)
			     __field(u32, channel)
			     __field(u64, where)
			     __field(u32, old)
			     __field(u32, new)),
	    TP_fast_assign(nvdebug_assign_str(dev, dev_name(nvdebug_device(gpu)->dev));
			   __entry->runlist = runlist;
			   __entry->channel = channel;
			   __entry->where = where;
			   __entry->old = old;
			   __entry->new = new;),
	    TP_printk("%s runlist=%u channel=%u where=0x%llx old=0x%08x new=0x%08x",
		      __get_str(dev), __entry->runlist, __entry->channel,
		      __entry->where, __entry->old, __entry->new)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH host
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
