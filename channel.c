// SPDX-License-Identifier: MIT OR GPL-2.0
#define dev_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitmap.h>
#include <linux/cred.h>
#include <linux/pci.h>
#include <linux/seq_buf.h>
#include <linux/slab.h>

#include "box.h"
#include "channel.h"
#include "chips/chips.h"
#include "decode/channel.h"
#include "decode/runlist.h"
#include "decode/targets.h"
#include "gpu.h"
#include "hw/pfifo.h"
#include "hw/runlist.h"

#define CREATE_TRACE_POINTS
#include "nvdebug_trace.h"

/* The state of a channel: PCCSR, Kepler to Turing. */

u32 nvdebug_channel_reg_gk104(const struct nvdebug_runlist *runlist, u32 id)
{
	return NV_PCCSR_CHANNEL(id);
}

int nvdebug_channel_read_gk104(struct nvdebug_gpu *gpu,
			       const struct nvdebug_runlist *runlist, u32 id,
			       struct nvdebug_channel *channel)
{
	int ret = nvdebug_reg_read(gpu, NV_PCCSR_CHANNEL(id), &channel->state);

	if (ret)
		return ret;
	return nvdebug_reg_read(gpu, NV_PCCSR_CHANNEL_INST(id), &channel->inst);
}

void nvdebug_channel_show_entry_gk104(const struct nvdebug_box *box,
				      const struct nvdebug_chip *chip,
				      const struct nvdebug_entry *entry,
				      bool hide)
{
	if (chip->runlist->has_runqueue)
		nvdebug_box_line(box, "Runqueue", "%u", entry->runqueue);
	else
		nvdebug_box_line(box, "Runqueue", "-");
}

void nvdebug_channel_show_gk104(const struct nvdebug_box *box,
				const struct nvdebug_chip *chip,
				const struct nvdebug_channel *channel,
				const struct nvdebug_entry *entry, bool hide)
{
	struct nvdebug_pccsr_inst inst;
	struct nvdebug_pccsr c;

	nvdebug_pccsr_decode(channel->state, &c);
	nvdebug_pccsr_inst_decode(channel->inst, &inst);

	nvdebug_box_flag(box, "Enabled", c.enabled);
	nvdebug_box_flag(box, "Next", c.next);
	nvdebug_box_flag(box, "Force CTX Reload", c.force_ctx_reload);
	nvdebug_box_flag(box, "Enable set", c.enable_set);
	nvdebug_box_flag(box, "Enable clear", c.enable_clear);
	if (chip->channel->has_faults) {
		nvdebug_box_flag(box, "PBDMA Faulted", c.pbdma_faulted);
		nvdebug_box_flag(box, "ENG Faulted", c.eng_faulted);
	} else {
		nvdebug_box_line(box, "PBDMA Faulted", "-");
		nvdebug_box_line(box, "ENG Faulted", "-");
	}
	nvdebug_box_line(box, "Status", "%u", c.status);
	nvdebug_box_flag(box, "Busy", c.busy);
	nvdebug_box_line(box, "Status Name", "%s",
			 nvdebug_channel_status_name(c.status));
	nvdebug_box_flag(box, "Bound", inst.bound);
	nvdebug_channel_show_entry_gk104(box, chip, entry, hide);
	nvdebug_box_address(box, "Instance Block", inst.addr, hide);
	nvdebug_box_line(box, "Instance Aperture", "%s",
			 nvdebug_aperture_name(inst.aperture));
}

/* The state of a channel: channel RAM, Ampere and newer. */

u32 nvdebug_channel_reg_ga100(const struct nvdebug_runlist *runlist, u32 id)
{
	return runlist->chram + NV_CHRAM_CHANNEL(id);
}

int nvdebug_channel_read_ga100(struct nvdebug_gpu *gpu,
			       const struct nvdebug_runlist *runlist, u32 id,
			       struct nvdebug_channel *channel)
{
	return nvdebug_reg_read(gpu, nvdebug_channel_reg_ga100(runlist, id),
				&channel->state);
}

void nvdebug_channel_show_entry_ga100(const struct nvdebug_box *box,
				      const struct nvdebug_chip *chip,
				      const struct nvdebug_entry *entry,
				      bool hide)
{
	nvdebug_box_line(box, "Runqueue", "%u", entry->runqueue);
	nvdebug_box_address(box, "Instance Block", entry->inst, hide);
	nvdebug_box_line(box, "Instance Aperture", "%s",
			 nvdebug_aperture_name(entry->inst_aperture));
}

void nvdebug_channel_show_ga100(const struct nvdebug_box *box,
				const struct nvdebug_chip *chip,
				const struct nvdebug_channel *channel,
				const struct nvdebug_entry *entry, bool hide)
{
	struct nvdebug_chram c;

	nvdebug_chram_decode(channel->state, &c);
	nvdebug_box_flag(box, "Enabled", c.enabled);
	nvdebug_box_flag(box, "Next", c.next);
	nvdebug_box_flag(box, "Busy", c.busy);
	nvdebug_box_flag(box, "PBDMA Faulted", c.pbdma_faulted);
	nvdebug_box_flag(box, "ENG Faulted", c.eng_faulted);
	nvdebug_box_flag(box, "On PBDMA", c.on_pbdma);
	nvdebug_box_flag(box, "On ENG", c.on_eng);
	nvdebug_box_flag(box, "Pending", c.pending);
	nvdebug_box_flag(box, "CTX Reload", c.ctx_reload);
	nvdebug_box_flag(box, "PBDMA Busy", c.pbdma_busy);
	nvdebug_box_flag(box, "ENG Busy", c.eng_busy);
	nvdebug_box_flag(box, "Acquire Fail", c.acquire_fail);
	nvdebug_box_line(box, "Status Name", "%s",
			 nvdebug_channel_status_name(c.status));
	nvdebug_channel_show_entry_ga100(box, chip, entry, hide);
}

/* Control: from the text of a request to channels, then to registers. */

/* A channel to change. */
struct change {
	const struct nvdebug_runlist *runlist;	/* NULL where ids are global */
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
	/* per runlist: its channels, read when first asked for, else NULL */
	unsigned long **held;
};

static int channels_of(struct request *req, u32 index,
		       const unsigned long **held)
{
	struct nvdebug_runlist *runlist = &req->gpu->topology.runlist[index];
	unsigned long **slot = &req->held[index];
	u32 entries;
	int ret;

	if (!*slot) {
		*slot = bitmap_zalloc(NVDEBUG_CHANNEL_IDS, GFP_KERNEL);
		if (!*slot)
			return -ENOMEM;
		/* most runlists are empty, and one read says so */
		ret = nvdebug_runlist_length(req->gpu, runlist, &entries);
		if (!ret && entries)
			ret = nvdebug_runlist_channels(req->gpu, runlist, *slot);
		if (ret) {
			bitmap_free(*slot);
			*slot = NULL;
			return ret;
		}
	}
	*held = *slot;
	return 0;
}

static int check_id(u32 id, u32 channels)
{
	return id < channels ? 0 : -ERANGE;
}

/* "RUNLIST:ID" where ids are global: the runlist must have the channel. */
static int resolve_member(struct request *req, const struct nvdebug_target *t)
{
	struct nvdebug_runlist *runlist =
		nvdebug_runlist_find(req->gpu, t->runlist);
	const unsigned long *held;
	int ret;

	if (!runlist)
		return -EINVAL;
	ret = check_id(t->id, req->gpu->topology.channels);
	if (ret)
		return ret;
	ret = channels_of(req, runlist - req->gpu->topology.runlist, &held);
	if (ret)
		return ret;
	return test_bit(t->id, held) ? 0 : -EINVAL;
}

/* "RUNLIST:ID" where ids are local: that is precise. */
static int resolve_local(struct request *req, const struct nvdebug_target *t,
			 const struct nvdebug_runlist **found)
{
	struct nvdebug_runlist *runlist =
		nvdebug_runlist_find(req->gpu, t->runlist);
	int ret;

	if (!runlist)
		return -EINVAL;
	ret = nvdebug_runlist_prepare(req->gpu, runlist);
	if (ret)
		return ret;
	*found = runlist;
	return check_id(t->id, runlist->channels);
}

/* "ID" where ids are local: exactly one runlist must have it. */
static int resolve_by_search(struct request *req,
			     const struct nvdebug_target *t,
			     const struct nvdebug_runlist **found)
{
	struct nvdebug_topology *topology = &req->gpu->topology;
	const unsigned long *held;
	bool possible = false;
	u32 i;
	int ret;

	*found = NULL;
	for (i = 0; i < topology->runlists; i++) {
		struct nvdebug_runlist *runlist = &topology->runlist[i];

		ret = nvdebug_runlist_prepare(req->gpu, runlist);
		if (ret)
			return ret;
		if (check_id(t->id, runlist->channels))
			continue;
		possible = true;
		ret = channels_of(req, i, &held);
		if (ret)
			return ret;
		if (!test_bit(t->id, held))
			continue;
		if (*found)
			return -EINVAL;
		*found = runlist;
	}
	if (!possible)
		return -ERANGE;
	return *found ? 0 : -EINVAL;
}

static int resolve(struct request *req, const struct nvdebug_target *t,
		   struct change *change)
{
	change->id = t->id;
	change->runlist = NULL;

	if (!req->gpu->chip->channel->per_runlist)
		return t->has_runlist ?
			resolve_member(req, t) :
			check_id(t->id, req->gpu->topology.channels);

	return t->has_runlist ? resolve_local(req, t, &change->runlist) :
				resolve_by_search(req, t, &change->runlist);
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
	return ops->is_enabled(new) == enable ? 0 : -EIO;
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

/* One line for the request, however long it was. */
static void report(const struct request *req)
{
	char text[128];
	struct seq_buf list;
	u32 i;

	seq_buf_init(&list, text, sizeof(text));
	for (i = 0; i < req->count && i < 12; i++) {
		const struct change *change = &req->change[i];

		if (change->runlist)
			seq_buf_printf(&list, " %u:%u", change->runlist->id,
				       change->id);
		else
			seq_buf_printf(&list, " %u", change->id);
	}
	dev_info(&req->gpu->pdev->dev, "%s %u channel%s:%.*s%s (by uid %u)\n",
		 req->enable ? "enabled" : "disabled", req->count,
		 req->count == 1 ? "" : "s", (int)seq_buf_used(&list), text,
		 i < req->count ? " ..." : "",
		 from_kuid(&init_user_ns, current_uid()));
}

static void request_free(struct request *req)
{
	u32 i;

	for (i = 0; req->held && i < req->gpu->topology.runlists; i++)
		bitmap_free(req->held[i]);
	kfree(req->held);
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
	req->held = kcalloc(gpu->topology.runlists + 1, sizeof(*req->held),
			    GFP_KERNEL);
	if (!req->target || !req->change || !req->held)
		return -ENOMEM;

	ret = nvdebug_targets_parse(text, len, req->target,
				    NVDEBUG_TARGETS_MAX);
	if (ret < 0)
		return ret;
	req->count = ret;

	ret = nvdebug_gpu_begin(gpu);
	if (ret)
		return ret;
	for (i = 0; !ret && i < req->count; i++)
		ret = resolve(req, &req->target[i], &req->change[i]);
	if (!ret)
		ret = apply(req);
	nvdebug_gpu_end(gpu);
	if (!ret)
		report(req);
	return ret;
}

int nvdebug_channel_control(struct nvdebug_gpu *gpu, const char *text,
			    size_t len, bool enable)
{
	struct request req = { .gpu = gpu, .enable = enable };
	int ret = request_run(&req, text, len);

	request_free(&req);
	return ret;
}
