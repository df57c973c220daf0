// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Enabling and disabling channels: from the text of a request to channels,
 * then to registers.
 */
#define dev_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitfield.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include "channel.h"
#include "chips/chips.h"
#include "decode/targets.h"
#include "gpu.h"
#include "hw/runlist.h"
#include "hw/usermode.h"
#include "proc.h"
#include "report.h"
#include "resolve.h"

#define CREATE_TRACE_POINTS
#include "nvdebug_trace.h"

/* A channel to change. */
struct change {
	struct nvdebug_runlist *runlist;	/* NULL where ids are global */
	u32 id;
	u32 old;	/* what its register read before */
	bool written;
};

struct request {
	struct nvdebug_gpu *gpu;
	bool enable;
	struct nvdebug_target *target;
	struct change *change;
	u32 count;
	struct nvdebug_resolver resolver;
};

/* Doorbells. They may be rung for nothing: Host looks and goes on. */

/* Up to Pascal Host has none: it watches USERD. */
bool nvdebug_channel_doorbell_gk104(const struct nvdebug_runlist *runlist,
				    u32 id, u32 *reg, u32 *value)
{
	return false;
}

bool nvdebug_channel_doorbell_gv100(const struct nvdebug_runlist *runlist,
				    u32 id, u32 *reg, u32 *value)
{
	*reg = NV_USERMODE_NOTIFY_CHANNEL_PENDING;
	*value = id;
	return true;
}

/* Which runlist has the channel would take reading them all to find out. */
bool nvdebug_channel_doorbell_tu102(const struct nvdebug_runlist *runlist,
				    u32 id, u32 *reg, u32 *value)
{
	*reg = NV_USERMODE_NOTIFY_CHANNEL_PENDING;
	*value = FIELD_PREP(NV_USERMODE_NOTIFY_CHANNEL_PENDING_CHID, id) |
		 FIELD_PREP(NV_USERMODE_NOTIFY_CHANNEL_PENDING_RUNLIST_ID,
			    NV_USERMODE_NOTIFY_CHANNEL_PENDING_RUNLIST_ID_ALL);
	return true;
}

bool nvdebug_channel_doorbell_ga100(const struct nvdebug_runlist *runlist,
				    u32 id, u32 *reg, u32 *value)
{
	*reg = runlist->base + NV_RUNLIST_INTERNAL_DOORBELL;
	*value = FIELD_PREP(NV_RUNLIST_INTERNAL_DOORBELL_CHID, id);
	return true;
}

bool nvdebug_channel_doorbell_gh100(const struct nvdebug_runlist *runlist,
				    u32 id, u32 *reg, u32 *value)
{
	*reg = NV_VIRTUAL_FUNCTION_DOORBELL;
	*value = FIELD_PREP(NV_VIRTUAL_FUNCTION_DOORBELL_VECTOR, id) |
		 FIELD_PREP(NV_VIRTUAL_FUNCTION_DOORBELL_RUNLIST_ID,
			    runlist->id);
	return true;
}

bool nvdebug_channel_doorbell_gb202(const struct nvdebug_runlist *runlist,
				    u32 id, u32 *reg, u32 *value)
{
	nvdebug_channel_doorbell_gh100(runlist, id, reg, value);
	*value |= NV_VIRTUAL_FUNCTION_DOORBELL_RUNLIST_DOORBELL_GB202;
	return true;
}

static void ring(struct nvdebug_gpu *gpu, const struct change *change)
{
	u32 reg, value;

	lockdep_assert_held(&gpu->lock);
	if (gpu->chip->channel->doorbell(change->runlist, change->id, &reg,
					 &value))
		nvdebug_reg_write(gpu, reg, value);
}

/* Enable or disable one channel and see whether it did. */
static int set_enabled(struct nvdebug_gpu *gpu, struct change *change,
		       bool enable)
{
	const struct nvdebug_channel_ops *ops = gpu->chip->channel;
	u32 reg = ops->reg(change->runlist, change->id);
	u32 new;
	int ret;

	lockdep_assert_held(&gpu->lock);
	ret = nvdebug_reg_read(gpu, reg, &change->old);
	if (ret)
		return ret;
	nvdebug_reg_write(gpu, reg, ops->enable_word(change->old, enable));
	change->written = true;
	ret = nvdebug_reg_read(gpu, reg, &new);
	if (ret)
		return ret;
	trace_channel_enable(&gpu->pdev->dev,
			     change->runlist ? (int)change->runlist->id : -1,
			     change->id, enable, change->old, new);
	if (ops->is_enabled(new) != enable)
		return -EIO;
	if (enable && !ops->is_enabled(change->old))
		ring(gpu, change);
	return 0;
}

/*
 * Put the first @count changes back to what they were: the last one first,
 * since a channel may be named twice.
 */
static void undo(struct request *req, u32 count)
{
	struct nvdebug_gpu *gpu = req->gpu;

	while (count--) {
		struct change *change = &req->change[count];
		bool was = gpu->chip->channel->is_enabled(change->old);

		if (change->written && was != req->enable &&
		    set_enabled(gpu, change, was))
			dev_err(&gpu->pdev->dev, "channel %u did not go back\n",
				change->id);
	}
}

/* Make the changes, or none. */
static int apply(struct request *req)
{
	struct nvdebug_gpu *gpu = req->gpu;
	int ret = 0;
	u32 i;

	if (mutex_lock_killable(&gpu->lock))
		return -EINTR;
	for (i = 0; !ret && i < req->count; i++)
		ret = set_enabled(gpu, &req->change[i], req->enable);
	if (ret) {
		dev_err(&gpu->pdev->dev, "cannot %s channel %u (%d)\n",
			req->enable ? "enable" : "disable",
			req->change[i - 1].id, ret);
		/* with the last one: its write may have had an effect */
		undo(req, i);
	}
	mutex_unlock(&gpu->lock);
	return ret;
}

static void report(const struct request *req)
{
	struct nvdebug_report report;
	u32 i;

	nvdebug_report_begin(&report);
	for (i = 0; i < req->count; i++) {
		const struct change *change = &req->change[i];

		if (change->runlist)
			nvdebug_report_item(&report, "%u:%u",
					    change->runlist->id, change->id);
		else
			nvdebug_report_item(&report, "%u", change->id);
	}
	nvdebug_report_end(&report, req->gpu,
			   req->enable ? "enabled" : "disabled", "channel");
}

static void request_free(struct request *req)
{
	nvdebug_resolver_free(&req->resolver);
	kfree(req->change);
	kfree(req->target);
}

static int request_run(struct request *req, const char *text, size_t len)
{
	struct nvdebug_gpu *gpu = req->gpu;
	u32 i;
	int ret;

	req->target = kcalloc(NVDEBUG_TARGETS_MAX, sizeof(*req->target),
			      GFP_KERNEL);
	req->change = kcalloc(NVDEBUG_TARGETS_MAX, sizeof(*req->change),
			      GFP_KERNEL);
	if (!req->target || !req->change)
		return -ENOMEM;
	ret = nvdebug_resolver_init(&req->resolver, gpu, NVDEBUG_ENTRY_CHANNEL);
	if (ret)
		return ret;

	ret = nvdebug_targets_parse(text, len, req->target,
				    NVDEBUG_TARGETS_MAX);
	if (ret < 0)
		return ret;
	req->count = ret;

	ret = nvdebug_gpu_begin(gpu);
	if (ret)
		return ret;
	for (i = 0; !ret && i < req->count; i++) {
		req->change[i].id = req->target[i].id;
		ret = nvdebug_resolve_channel(&req->resolver, &req->target[i],
					      &req->change[i].runlist);
	}
	if (!ret)
		ret = apply(req);
	nvdebug_gpu_end(gpu);
	if (!ret)
		report(req);
	return ret;
}

static int channel_control(struct nvdebug_gpu *gpu, const char *text,
			   size_t len, bool enable)
{
	struct request req = { .gpu = gpu, .enable = enable };
	int ret = request_run(&req, text, len);

	request_free(&req);
	return ret;
}

static int disable_channel(struct nvdebug_gpu *gpu, const char *text,
			   size_t len, struct seq_buf *answer)
{
	return channel_control(gpu, text, len, false);
}

static int enable_channel(struct nvdebug_gpu *gpu, const char *text,
			  size_t len, struct seq_buf *answer)
{
	return channel_control(gpu, text, len, true);
}

const struct nvdebug_control nvdebug_disable_channel_control = {
	.text_max = NVDEBUG_TARGETS_TEXT_MAX,
	.changes = true,
	.act = disable_channel,
};

const struct nvdebug_control nvdebug_enable_channel_control = {
	.text_max = NVDEBUG_TARGETS_TEXT_MAX,
	.changes = true,
	.act = enable_channel,
};
