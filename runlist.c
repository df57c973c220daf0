// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * The files runlistY and runlistY_brief: a list with its channels. The former
 * also shows their instance blocks and contexts.
 */
#include <linux/err.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "chips/chips.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "core/runlist.h"
#include "core/view.h"
#include "decode/channel.h"
#include "decode/runlist.h"
#include "state/instances.h"
#include "state/runlist.h"
#include "views/box.h"
#include "views/channel.h"
#include "views/instance_show.h"
#include "views/views.h"

/* Facts about an entry that its words do not have. */
struct entry_extra {
	u32 state;	/* channel: its register, if in_range */
	/* The place of a channel's instance block. */
	struct nvdebug_instance_place place;
	struct nvdebug_block *block;	/* NULL: none */
	u16 members;	/* TSG: channels that follow */
	bool in_tsg;
	bool in_range;
};

struct runlist_snapshot {
	struct nvdebug_snapshot base;
	u32 id;
	struct nvdebug_runlist_copy copy;
	u32 entries;			/* decoded; 0 if there is no copy */
	struct nvdebug_entry *entry;
	struct entry_extra *extra;
	u32 tsgs;
	u32 channels;
	struct nvdebug_instances *instances;	/* NULL in runlistY_brief */
};

static void runlist_free(struct nvdebug_snapshot *base)
{
	struct runlist_snapshot *s =
		container_of(base, struct runlist_snapshot, base);

	kvfree(s->copy.words);
	kvfree(s->entry);
	kvfree(s->extra);
	nvdebug_instances_free(s->instances);
	kfree(s);
}

/* Decode and count the entries, and assign channels to TSGs. */
static int decode_entries(const struct nvdebug_runlist_ops *ops,
			  struct runlist_snapshot *s)
{
	u32 i, k;
	int ret;

	s->entry = kvcalloc(s->entries, sizeof(*s->entry), GFP_KERNEL_ACCOUNT);
	s->extra = kvcalloc(s->entries, sizeof(*s->extra), GFP_KERNEL_ACCOUNT);
	if (!s->entry || !s->extra)
		return -ENOMEM;

	for (i = 0; i < s->entries; i++) {
		ret = ops->decode(s->copy.words + i * ops->entry_words,
				  ops->entry_words, &s->entry[i]);
		if (ret)
			return ret;
		s->tsgs += s->entry[i].kind == NVDEBUG_ENTRY_TSG;
		s->channels += s->entry[i].kind == NVDEBUG_ENTRY_CHANNEL;
	}
	for (i = 0; i < s->entries; i++) {
		s->extra[i].members =
			nvdebug_tsg_members(s->entry, s->entries, i);
		for (k = 1; k <= s->extra[i].members; k++)
			s->extra[i + k].in_tsg = true;
	}
	return 0;
}

/* Read the registers of the channels, and where their instance blocks are. */
static int read_channels(struct nvdebug_gpu *gpu,
			 const struct nvdebug_runlist *runlist,
			 struct runlist_snapshot *s)
{
	const struct nvdebug_channel_ops *ops = gpu->chip->channel;
	u32 i;
	int ret;

	for (i = 0; i < s->entries; i++) {
		u32 id = s->entry[i].id;

		if (s->entry[i].kind == NVDEBUG_ENTRY_CHANNEL &&
		    id < runlist->channels)
			nvdebug_reg_expect(gpu, ops->reg(runlist, id));
	}
	for (i = 0; i < s->entries; i++) {
		u32 id = s->entry[i].id;

		if (s->entry[i].kind != NVDEBUG_ENTRY_CHANNEL)
			continue;
		ret = nvdebug_gpu_check_stop(gpu);
		if (ret)
			return ret;
		s->extra[i].in_range = id < runlist->channels;
		if (s->extra[i].in_range)
			ret = nvdebug_reg_read(gpu, ops->reg(runlist, id),
					       &s->extra[i].state);
		if (!ret)
			ret = ops->locate_instance(gpu, id, &s->entry[i],
						   &s->extra[i].place);
		if (ret)
			return ret;
		cond_resched();
	}
	return 0;
}

/* Read instance blocks and contexts. */
static int read_instances(struct nvdebug_gpu *gpu, struct nvdebug_mem *mem,
			  struct runlist_snapshot *s)
{
	struct nvdebug_block *block;
	u32 i;
	int ret;

	s->instances = nvdebug_instances_create(gpu);
	if (!s->instances)
		return -ENOMEM;
	s->instances->with_images =
		nvdebug_runlist_has_graphics(&gpu->topology, s->id);
	for (i = 0; i < s->entries; i++) {
		if (s->entry[i].kind != NVDEBUG_ENTRY_CHANNEL)
			continue;
		block = nvdebug_instances_add(s->instances, &s->extra[i].place);
		if (IS_ERR(block))
			return PTR_ERR(block);
		s->extra[i].block = block;
	}
	ret = nvdebug_instances_read(s->instances, mem);
	/* Now, because a block may have changed until it was read. */
	for (i = 0; !ret && i < s->entries; i++)
		if (s->extra[i].block)
			ret = nvdebug_instances_confirm(s->instances,
							s->entry[i].id,
							s->extra[i].block);
	for (i = 0; !ret && i < s->entries; i++)
		if (s->extra[i].block)
			nvdebug_block_claim(s->extra[i].block, i);
	return ret;
}

static int runlist_snapshot_read(struct nvdebug_gpu *gpu,
				 struct nvdebug_mem *mem,
				 const struct nvdebug_runlist *runlist,
				 struct runlist_snapshot *s, bool brief)
{
	int ret;

	ret = nvdebug_runlist_copy(gpu, mem, runlist, false, &s->copy);
	if (ret || !s->copy.words)
		return ret;
	s->entries = s->copy.loc.entries;
	ret = decode_entries(gpu->chip->runlist, s);
	if (ret)
		return ret;
	ret = read_channels(gpu, runlist, s);
	if (ret || brief)
		return ret;
	return read_instances(gpu, mem, s);
}

static struct nvdebug_snapshot *runlist_snapshot_take(struct nvdebug_gpu *gpu,
						      u32 id, bool brief)
{
	struct nvdebug_runlist *runlist =
		nvdebug_runlist_find(&gpu->topology, id);
	struct runlist_snapshot *s;
	struct nvdebug_mem *mem;
	int ret;

	ret = nvdebug_runlist_prepare(gpu, runlist);
	if (ret)
		return ERR_PTR(ret);
	s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	if (!s)
		return ERR_PTR(-ENOMEM);
	s->id = id;

	mem = nvdebug_mem_begin(gpu);
	if (IS_ERR(mem)) {
		runlist_free(&s->base);
		return ERR_CAST(mem);
	}
	ret = runlist_snapshot_read(gpu, mem, runlist, s, brief);
	nvdebug_mem_end(mem);
	if (ret) {
		runlist_free(&s->base);
		return ERR_PTR(ret);
	}
	s->base.records = s->entries + 1;
	return &s->base;
}

static struct nvdebug_snapshot *runlist_take(struct nvdebug_gpu *gpu, u32 id)
{
	return runlist_snapshot_take(gpu, id, false);
}

static struct nvdebug_snapshot *runlist_brief_take(struct nvdebug_gpu *gpu,
						   u32 id)
{
	return runlist_snapshot_take(gpu, id, true);
}

static void show_list(struct nvdebug_box *box, const struct runlist_snapshot *s)
{
	const struct nvdebug_runlist_location *loc = &s->copy.loc;

	nvdebug_box_open(box, 0, 4, "Runlist %u", s->id);
	nvdebug_box_line(box, "Entries", "%u", loc->entries);
	if (loc->entries && !s->copy.words) {
		nvdebug_box_line(box, "TSGs", "-");
		nvdebug_box_line(box, "Channels", "-");
	} else {
		nvdebug_box_line(box, "TSGs", "%u", s->tsgs);
		nvdebug_box_line(box, "Channels", "%u", s->channels);
	}
	nvdebug_box_flag(box, "Pending", loc->pending);
	if (!loc->entries && !loc->addr)
		nvdebug_box_line(box, "Address", "-");
	else
		nvdebug_box_address(box, "Address", loc->addr, s->base.hide);
	nvdebug_box_line(box, "Aperture", "%s",
			 nvdebug_aperture_name(loc->aperture));
	nvdebug_box_line(box, "Snapshot", "%s",
			 s->copy.torn ? "torn" : "consistent");
	nvdebug_box_close(box);
}

static void show_tsg(struct nvdebug_box *box, const struct nvdebug_entry *e,
		     const struct entry_extra *extra)
{
	u32 ns;
	u64 us = div_u64_rem(nvdebug_timeslice_ns(e->timeout, e->scale), 1000,
			     &ns);

	nvdebug_box_open(box, 0, 4, "TSG Entry %u", e->id);
	nvdebug_box_line(box, "Scale", "%u", e->scale);
	nvdebug_box_line(box, "Timeout", "%u", e->timeout);
	nvdebug_box_line(box, "Timeslice (us)", "%llu.%03u", us, ns);
	nvdebug_box_line(box, "Length", "%u", e->length);
	if (extra->members < e->length)
		nvdebug_box_line(box, "Truncated", "%u of %u", extra->members,
				 e->length);
	nvdebug_box_close(box);
}

static void show_channel(struct nvdebug_box *box, const struct nvdebug_chip *chip,
			 const struct runlist_snapshot *s, size_t at)
{
	const struct nvdebug_entry *e = &s->entry[at];
	const struct entry_extra *extra = &s->extra[at];
	int indent = extra->in_tsg ? 2 : 0;
	bool hide = s->base.hide;

	nvdebug_box_open(box, indent, 1, "Channel Info %u", e->id);
	if (extra->in_range) {
		nvdebug_channel_show(box, chip, extra->state, &extra->place, e,
				     hide);
	} else {
		nvdebug_box_line(box, "Error", "channel id out of range");
		nvdebug_channel_show_entry(box, chip, e, hide);
	}
	nvdebug_box_close(box);
	if (s->instances)
		nvdebug_block_show(box->m, chip, extra->block, indent + 2,
				   s->entry, at, hide);
}

static void show_unknown(struct nvdebug_box *box, const struct nvdebug_chip *chip,
			 const struct runlist_snapshot *s, size_t at)
{
	const u32 *word = s->copy.words + at * chip->runlist->entry_words;
	char key[] = "Word 0";
	u32 i;

	nvdebug_box_open(box, 0, 4, "Unknown Entry %zu", at);
	/*
	 * Show the words of an unknown entry. They may be of anything, because
	 * memory that was freed holds something else by now; and any of them
	 * may be part of an address.
	 */
	for (i = 0; i < chip->runlist->entry_words; i++) {
		key[5] = '0' + i;
		nvdebug_box_address(box, key, word[i],
				    s->base.hide || s->base.hide_words);
	}
	nvdebug_box_close(box);
}

static void runlist_show(struct seq_file *m, struct nvdebug_gpu *gpu,
			 const struct nvdebug_snapshot *base, size_t record)
{
	const struct runlist_snapshot *s =
		container_of(base, struct runlist_snapshot, base);
	struct nvdebug_box box = { .m = m };
	size_t at = record - 1;

	if (!record) {
		show_list(&box, s);
		return;
	}

	switch (s->entry[at].kind) {
	case NVDEBUG_ENTRY_TSG:
		show_tsg(&box, &s->entry[at], &s->extra[at]);
		break;
	case NVDEBUG_ENTRY_CHANNEL:
		show_channel(&box, gpu->chip, s, at);
		break;
	default:
		show_unknown(&box, gpu->chip, s, at);
	}
}

const struct nvdebug_view nvdebug_runlist_view = {
	.live = true,
	.take = runlist_take,
	.show = runlist_show,
	.free = runlist_free,
};

const struct nvdebug_view nvdebug_runlist_brief_view = {
	.live = true,
	.take = runlist_brief_take,
	.show = runlist_show,
	.free = runlist_free,
};
