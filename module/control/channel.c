// SPDX-License-Identifier: MIT OR GPL-2.0
/* The controls disable_channel and enable_channel. */
#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "chips/chips.h"
#include "control/controls.h"
#include "control/report.h"
#include "core/control.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "decode/channel.h"
#include "decode/runlist.h"
#include "decode/targets.h"
#include "host/trace.h"
#include "state/resolve.h"
#include "state/runlist.h"

/*
 * The owner of a channel by its entry in the driver's list: the place of its
 * instance block shows whether the id was reused.
 */
struct channel_owner {
	int error;	/* error of reading the list */
	bool listed;
	u8 aperture;
	u64 inst;
};

/* A channel to change. */
struct channel_change {
	struct nvdebug_runlist *runlist;	/* NULL where ids are global */
	u32 id;
	u32 old;	/* value of its register before the change */
	/* The owner before a lease, by channel_read_owner(). */
	struct nvdebug_instance_place owner;
	/*
	 * Lease, where no register has the owner: the owner when the lease
	 * began, and when it was last read.
	 */
	struct channel_owner first;
	struct channel_owner last;
	bool written;
};

/* All changes of a request, in its order. */
struct channel_changes {
	struct nvdebug_undo undo;
	bool enable;
	bool leased;
	u32 count;
	struct channel_change change[NVDEBUG_TARGETS_MAX];
};

struct channel_request {
	struct nvdebug_gpu *gpu;
	struct nvdebug_target *target;
	struct channel_changes *changes;
	struct nvdebug_resolver resolver;
};

/* Ring the channel's doorbell. A spurious doorbell is harmless. */
static void channel_ring_doorbell(struct nvdebug_gpu *gpu,
				  const struct channel_change *change)
{
	u32 reg, value;

	lockdep_assert_held(&gpu->lock);
	if (gpu->chip->channel->doorbell(change->runlist, change->id, &reg,
					 &value))
		nvdebug_reg_write(gpu, reg, value);
}

/*
 * Read and write PCCSR with interrupts off, so that only a write by another CPU
 * can come between: a driver sets NEXT in it, and clears faults.
 */
static int channel_write(struct nvdebug_gpu *gpu, u32 reg,
			 struct channel_change *change, bool enable)
{
	unsigned long flags;
	int ret;

	local_irq_save(flags);
	ret = nvdebug_reg_read(gpu, reg, &change->old);
	if (!ret)
		nvdebug_reg_write(gpu, reg,
				  gpu->chip->channel->enable_word(change->old,
								  enable));
	local_irq_restore(flags);
	return ret;
}

/* Enable or disable one channel and verify that. */
static int channel_set_enabled(struct nvdebug_gpu *gpu,
			       struct channel_change *change, bool enable)
{
	const struct nvdebug_channel_ops *ops = gpu->chip->channel;
	u32 reg = ops->reg(change->runlist, change->id);
	u32 new;
	int ret;

	lockdep_assert_held(&gpu->lock);
	ret = channel_write(gpu, reg, change, enable);
	if (ret)
		return ret;
	change->written = true;
	ret = nvdebug_reg_read(gpu, reg, &new);
	if (ret)
		return ret;
	trace_channel_enable(gpu,
			     change->runlist ? (int)change->runlist->id : -1,
			     change->id, enable, change->old, new);
	if (ops->is_enabled(new) != enable)
		return -EIO;
	if (enable && !ops->is_enabled(change->old))
		channel_ring_doorbell(gpu, change);
	return 0;
}

/*
 * Identify the owner of a channel by the register with its instance block, if
 * the chip has one. Else @owner is zero, see struct channel_owner.
 */
static int channel_read_owner(struct nvdebug_gpu *gpu,
			      const struct channel_change *change,
			      struct nvdebug_instance_place *owner)
{
	const struct nvdebug_channel_ops *ops = gpu->chip->channel;

	*owner = (struct nvdebug_instance_place) { };
	if (ops->instance_in_entry)
		return 0;
	return ops->locate_instance(gpu, change->id, NULL, owner);
}

/* Set the owners of the channels in @runlist from @copy of its list. */
static void channels_set_owners(struct nvdebug_gpu *gpu,
				struct channel_changes *changes,
				const struct nvdebug_runlist *runlist,
				const struct nvdebug_runlist_copy *copy)
{
	const struct nvdebug_runlist_ops *ops = gpu->chip->runlist;
	struct nvdebug_entry entry;
	u32 i, k;

	for (i = 0; copy->words && i < copy->loc.entries; i++) {
		if (ops->decode(copy->words + i * ops->entry_words,
				ops->entry_words, &entry) ||
		    entry.kind != NVDEBUG_ENTRY_CHANNEL)
			continue;
		for (k = 0; k < changes->count; k++) {
			struct channel_change *change = &changes->change[k];

			if (change->runlist != runlist || change->id != entry.id)
				continue;
			change->last.listed = true;
			change->last.inst = entry.inst;
			change->last.aperture = entry.inst_aperture;
		}
		cond_resched();
	}
}

/*
 * Read from the driver's lists where the instance block of each channel is, into
 * change->last. Returns only fatal errors; others are in change->last.error.
 */
static int channels_read_owners(struct nvdebug_gpu *gpu,
				struct nvdebug_mem *mem,
				struct channel_changes *changes)
{
	struct nvdebug_topology *topology = &gpu->topology;
	struct nvdebug_runlist_copy copy;
	u32 i, k, wanted;
	int ret, fatal = 0;

	for (i = 0; i < topology->runlists; i++) {
		struct nvdebug_runlist *runlist = &topology->runlist[i];

		for (k = 0, wanted = 0; k < changes->count; k++)
			wanted += changes->change[k].runlist == runlist;
		if (!wanted)
			continue;
		ret = nvdebug_runlist_copy_original(gpu, mem, runlist, &copy);
		if (!ret && copy.torn)
			ret = -EBUSY;
		else if (!ret && copy.loc.entries && !copy.words)
			ret = -EIO;
		for (k = 0; k < changes->count; k++)
			if (changes->change[k].runlist == runlist)
				changes->change[k].last = (struct channel_owner) {
					.error = ret,
				};
		if (!ret)
			channels_set_owners(gpu, changes, runlist, &copy);
		kvfree(copy.words);
		/*
		 * Go on after an error: the owners of the other channels must
		 * not stay as they were.
		 */
		if (nvdebug_mem_error_is_fatal(ret))
			fatal = ret;
	}
	return fatal;
}

/*
 * Read the owners for a lease, before the change, and remember them, so that the
 * undo can tell whether an id was used again. On GPUs where a register has the
 * owner, channel_read_owner() reads it instead. If a list cannot be read, the
 * ids alone identify its channels.
 */
static int channels_keep_owners(struct nvdebug_gpu *gpu,
				struct channel_changes *changes)
{
	struct nvdebug_mem *mem;
	u32 i;
	int ret;

	if (!changes->leased || !gpu->chip->channel->instance_in_entry)
		return 0;
	mem = nvdebug_mem_begin(gpu);
	if (IS_ERR(mem))
		return PTR_ERR(mem);
	ret = channels_read_owners(gpu, mem, changes);
	nvdebug_mem_end(mem);
	for (i = 0; i < changes->count; i++)
		changes->change[i].first = changes->change[i].last;
	return ret;
}

/* Read the owners again at the end of a lease, for channel_compare_owners(). */
static void channels_reread_owners(struct nvdebug_gpu *gpu,
				   struct channel_changes *changes)
{
	struct nvdebug_mem *mem;

	if (!gpu->chip->channel->instance_in_entry)
		return;
	mem = nvdebug_mem_begin_undo(gpu);
	/* Errors are in change->last, fatal ones included. */
	(void)channels_read_owners(gpu, mem, changes);
	nvdebug_mem_end(mem);
}

/*
 * Compare the owners that the lists gave. Returns 1 if they are the same, 0 or
 * an error. If there is no memory for a copy of the list, the id decides alone,
 * because a lease must end.
 */
static int channel_compare_owners(const struct channel_change *change)
{
	const struct channel_owner *first = &change->first;
	const struct channel_owner *last = &change->last;

	if (!first->listed || last->error == -ENOMEM)
		return 1;
	if (last->error)
		return last->error;
	return last->listed && last->inst == first->inst &&
	       last->aperture == first->aperture;
}

static int channel_make_change(struct nvdebug_gpu *gpu,
			       const struct channel_changes *changes,
			       struct channel_change *change)
{
	int ret = 0;

	if (changes->leased)
		ret = channel_read_owner(gpu, change, &change->owner);
	return ret ? ret : channel_set_enabled(gpu, change, changes->enable);
}

/*
 * Return 1 if the channel is still in the state that was set, with the same
 * owner; else 0 or an error.
 */
static int channel_is_as_left(struct nvdebug_gpu *gpu,
			      const struct channel_changes *changes,
			      const struct channel_change *change)
{
	const struct nvdebug_channel_ops *ops = gpu->chip->channel;
	struct nvdebug_instance_place owner;
	u32 state;
	int ret;

	ret = nvdebug_reg_read(gpu, ops->reg(change->runlist, change->id),
			       &state);
	if (ret)
		return ret;
	if (ops->is_enabled(state) != changes->enable)
		return 0;
	if (!changes->leased)
		return 1;
	ret = channel_read_owner(gpu, change, &owner);
	if (ret || !nvdebug_instance_place_same(&owner, &change->owner))
		return ret;
	return channel_compare_owners(change);
}

/*
 * Restore the channel. Returns 1 if it was restored, 0 if there was nothing to
 * do, or an error.
 */
static int channel_change_back(struct nvdebug_gpu *gpu,
			       const struct channel_changes *changes,
			       struct channel_change *change)
{
	bool was = gpu->chip->channel->is_enabled(change->old);
	int ret;

	if (!change->written || was == changes->enable)
		return 0;
	ret = channel_is_as_left(gpu, changes, change);
	if (ret <= 0)
		return ret;
	ret = channel_set_enabled(gpu, change, was);
	return ret ? ret : 1;
}

static void channels_report_item(struct nvdebug_report *report,
				 const struct channel_change *change)
{
	if (change->runlist)
		nvdebug_report_item(report, "%u:%u", change->runlist->id,
				    change->id);
	else
		nvdebug_report_item(report, "%u", change->id);
}

/*
 * Undo the first @count changes. The last change comes first, since a channel
 * may be named twice. @report may be NULL.
 */
static void channels_undo(struct nvdebug_gpu *gpu,
			  struct channel_changes *changes, u32 count,
			  struct nvdebug_report *report)
{
	u32 failed = 0, last = 0;
	int ret, error = 0;

	lockdep_assert_held(&gpu->lock);
	while (count--) {
		struct channel_change *change = &changes->change[count];

		ret = channel_change_back(gpu, changes, change);
		if (ret > 0 && report)
			channels_report_item(report, change);
		if (ret >= 0)
			continue;
		failed++;
		last = change->id;
		error = ret;
	}
	if (failed)
		nvdebug_err_ratelimit(gpu,
				      "failed to restore %u channel%s, the last one channel %u (%d)\n",
				      failed, failed == 1 ? "" : "s", last, error);
}

/* Make all changes, or none. */
static int channels_apply(struct nvdebug_gpu *gpu,
			  struct channel_changes *changes)
{
	int ret = 0;
	u32 i;

	if (mutex_lock_killable(&gpu->lock))
		return -EINTR;
	for (i = 0; !ret && i < changes->count; i++)
		ret = channel_make_change(gpu, changes, &changes->change[i]);
	if (ret) {
		nvdebug_err_ratelimit(gpu, "cannot %s channel %u (%d)\n",
				      changes->enable ? "enable" : "disable",
				      changes->change[i - 1].id, ret);
		/*
		 * The failed change is undone as well: its write may have had
		 * an effect.
		 */
		channels_undo(gpu, changes, i, NULL);
	}
	mutex_unlock(&gpu->lock);
	return ret;
}

static void channels_report(struct nvdebug_gpu *gpu,
			    const struct channel_changes *changes)
{
	struct nvdebug_report report;
	u32 i;

	nvdebug_report_begin(&report);
	for (i = 0; i < changes->count; i++)
		channels_report_item(&report, &changes->change[i]);
	nvdebug_report_end(&report, gpu,
			   changes->enable ? "enabled" : "disabled", "channel");
}

static void channels_lease_over(struct nvdebug_gpu *gpu,
				struct nvdebug_undo *base)
{
	struct channel_changes *changes =
		container_of(base, struct channel_changes, undo);
	struct nvdebug_report report;

	channels_reread_owners(gpu, changes);
	nvdebug_report_begin(&report);
	mutex_lock(&gpu->lock);
	channels_undo(gpu, changes, changes->count, &report);
	mutex_unlock(&gpu->lock);
	nvdebug_report_end(&report, gpu,
			   changes->enable ? "lease over: disabled" :
					     "lease over: enabled",
			   "channel");
}

static void channel_request_free(struct channel_request *req)
{
	nvdebug_resolver_free(&req->resolver);
	kvfree(req->changes);
	kfree(req->target);
}

static int channel_request_run(struct channel_request *req, const char *text,
			       size_t len)
{
	struct nvdebug_gpu *gpu = req->gpu;
	struct channel_changes *changes = req->changes;
	u32 i;
	int ret;

	req->target = kcalloc(NVDEBUG_TARGETS_MAX, sizeof(*req->target),
			      GFP_KERNEL);
	if (!req->target)
		return -ENOMEM;
	ret = nvdebug_resolver_init(&req->resolver, gpu, NVDEBUG_ENTRY_CHANNEL);
	if (ret)
		return ret;

	ret = nvdebug_targets_parse(text, len, req->target,
				    NVDEBUG_TARGETS_MAX);
	if (ret < 0)
		return ret;
	changes->count = ret;

	ret = nvdebug_gpu_begin(gpu);
	if (ret)
		return ret;
	for (i = 0; !ret && i < changes->count; i++) {
		changes->change[i].id = req->target[i].id;
		ret = nvdebug_resolve_channel(&req->resolver, &req->target[i],
					      &changes->change[i].runlist);
	}
	if (!ret)
		ret = channels_keep_owners(gpu, changes);
	if (!ret)
		ret = channels_apply(gpu, changes);
	nvdebug_gpu_end(gpu);
	if (!ret)
		channels_report(gpu, changes);
	return ret;
}

static int channel_control(struct nvdebug_gpu *gpu, const char *text,
			   size_t len, bool enable,
			   struct nvdebug_undo **undo)
{
	struct channel_request req = { .gpu = gpu };
	int ret;

	req.changes = kvzalloc(sizeof(*req.changes), GFP_KERNEL_ACCOUNT);
	if (!req.changes)
		return -ENOMEM;
	req.changes->undo.run = channels_lease_over;
	req.changes->enable = enable;
	req.changes->leased = undo;
	ret = channel_request_run(&req, text, len);
	if (!ret && undo) {
		*undo = &req.changes->undo;
		req.changes = NULL;
	}
	channel_request_free(&req);
	return ret;
}

static int disable_channel(struct nvdebug_gpu *gpu, const char *text,
			   size_t len, struct seq_buf *answer,
			   struct nvdebug_undo **undo)
{
	return channel_control(gpu, text, len, false, undo);
}

static int enable_channel(struct nvdebug_gpu *gpu, const char *text,
			  size_t len, struct seq_buf *answer,
			  struct nvdebug_undo **undo)
{
	return channel_control(gpu, text, len, true, undo);
}

const struct nvdebug_control nvdebug_disable_channel_control = {
	.text_max = NVDEBUG_TARGETS_TEXT_MAX,
	.changes = true,
	.leases = true,
	.act = disable_channel,
};

const struct nvdebug_control nvdebug_enable_channel_control = {
	.text_max = NVDEBUG_TARGETS_TEXT_MAX,
	.changes = true,
	.leases = true,
	.act = enable_channel,
};
