// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * The file contexts shows which channels of each TSG have one address space and
 * subcontext.
 */
#include <linux/bitmap.h>
#include <linux/err.h>
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
#include "decode/instance.h"
#include "decode/runlist.h"
#include "state/blocks.h"
#include "state/instances.h"
#include "state/runlist.h"
#include "views/views.h"

#define NO_TSG	U32_MAX

/* A channel of a list. Channels of a TSG are adjacent. */
struct context_member {
	u32 tsg;		/* NO_TSG: outside of a TSG */
	u32 id;
	struct nvdebug_block *block;	/* NULL: none */
};

/* A line of the file: channels with equal values in all other columns. */
struct context_row {
	u32 tsg;
	u32 spaces;		/* number in the whole TSG */
	u32 first;		/* position in order[] */
	u32 count;
	int status;		/* 0, or why block was not read */
	const struct nvdebug_block *block;	/* block of the first channel */
};

/* The lines of a runlist. */
struct context_part {
	struct list_head node;
	u32 runlist;
	int error;		/* if not 0, the only line shows this */
	u32 members;
	struct context_member *member;
	u32 *order;		/* numbers of members, by row */
	struct context_row *row;
	u32 rows;
};

struct contexts_snapshot {
	struct nvdebug_snapshot base;
	struct nvdebug_instances *instances;
	struct list_head parts;	/* by rising runlist */
};

static void contexts_free(struct nvdebug_snapshot *base)
{
	struct contexts_snapshot *s =
		container_of(base, struct contexts_snapshot, base);
	struct context_part *part, *next;

	list_for_each_entry_safe(part, next, &s->parts, node) {
		kvfree(part->member);
		kvfree(part->order);
		kvfree(part->row);
		kfree(part);
	}
	nvdebug_instances_free(s->instances);
	kfree(s);
}

static int add_member(struct nvdebug_instances *set, struct context_part *part,
		      const struct nvdebug_entry *entry, u32 tsg)
{
	struct context_member *member = &part->member[part->members++];
	struct nvdebug_instance_place place;
	struct nvdebug_block *block;
	int ret;

	ret = nvdebug_gpu_check_stop(set->gpu);
	if (ret)
		return ret;
	cond_resched();
	ret = set->gpu->chip->channel->locate_instance(set->gpu, entry->id,
						       entry, &place);
	if (ret)
		return ret;
	block = nvdebug_instances_add(set, &place);
	if (IS_ERR(block))
		return PTR_ERR(block);
	member->tsg = tsg;
	member->id = entry->id;
	member->block = block;
	return 0;
}

/*
 * Add the channels of a list. A list may repeat TSGs and channels outside of
 * TSGs, but they are added once: @tsgs and @bare have the ids that were added.
 */
static int add_members(struct nvdebug_instances *set,
		       const struct nvdebug_entry *entry, u32 entries,
		       struct context_part *part, unsigned long *tsgs,
		       unsigned long *bare)
{
	u32 i, k, n;
	int ret = 0;

	for (i = 0; !ret && i < entries; i += n + 1) {
		n = nvdebug_tsg_members(entry, entries, i);
		if (entry[i].kind == NVDEBUG_ENTRY_TSG &&
		    !__test_and_set_bit(entry[i].id, tsgs))
			for (k = 1; !ret && k <= n; k++)
				ret = add_member(set, part, &entry[i + k],
						 entry[i].id);
		if (entry[i].kind == NVDEBUG_ENTRY_CHANNEL &&
		    !__test_and_set_bit(entry[i].id, bare))
			ret = add_member(set, part, &entry[i], NO_TSG);
	}
	return ret;
}

static int decode_list(struct nvdebug_instances *set,
		       const struct nvdebug_runlist_copy *copy,
		       struct context_part *part)
{
	const struct nvdebug_runlist_ops *ops = set->gpu->chip->runlist;
	unsigned long *tsgs = bitmap_zalloc(NVDEBUG_CHANNEL_IDS, GFP_KERNEL);
	unsigned long *bare = bitmap_zalloc(NVDEBUG_CHANNEL_IDS, GFP_KERNEL);
	u32 i, entries = copy->loc.entries;
	struct nvdebug_entry *entry;
	int ret = 0;

	entry = kvcalloc(entries, sizeof(*entry), GFP_KERNEL_ACCOUNT);
	part->member = kvcalloc(entries, sizeof(*part->member),
				GFP_KERNEL_ACCOUNT);
	if (!tsgs || !bare || !entry || !part->member)
		ret = -ENOMEM;
	for (i = 0; !ret && i < entries; i++)
		ret = ops->decode(copy->words + i * ops->entry_words,
				  ops->entry_words, &entry[i]);
	if (!ret)
		ret = add_members(set, entry, entries, part, tsgs, bare);
	kvfree(entry);
	bitmap_free(bare);
	bitmap_free(tsgs);
	return ret;
}

static int read_part(struct contexts_snapshot *s, struct nvdebug_mem *mem,
		     struct nvdebug_runlist *runlist, struct context_part *part)
{
	struct nvdebug_gpu *gpu = s->instances->gpu;
	struct nvdebug_runlist_copy copy;
	int ret;

	ret = nvdebug_runlist_prepare(gpu, runlist);
	if (ret)
		return ret;
	ret = nvdebug_runlist_copy(gpu, mem, runlist, false, &copy);
	if (ret)
		return ret;
	if (copy.torn)
		ret = -EBUSY;
	else if (copy.words)
		ret = decode_list(s->instances, &copy, part);
	else if (copy.loc.entries)
		ret = -EIO;
	kvfree(copy.words);
	return ret;
}

/* Give the part one line with the error: other runlists may be readable. */
static void part_set_error(struct context_part *part, int error)
{
	part->error = error;
	part->members = 0;
	part->rows = 1;
}

static int add_part(struct contexts_snapshot *s, struct nvdebug_mem *mem,
		    struct nvdebug_runlist *runlist)
{
	struct context_part *part;
	u32 entries;
	int ret;

	/* Most runlists are empty: then one read is enough. */
	ret = nvdebug_runlist_length(s->instances->gpu, runlist, &entries);
	if (!ret && !entries)
		return 0;
	part = kzalloc(sizeof(*part), GFP_KERNEL_ACCOUNT);
	if (!part)
		return -ENOMEM;
	part->runlist = runlist->id;
	list_add_tail(&part->node, &s->parts);
	if (!ret)
		ret = read_part(s, mem, runlist, part);
	/*
	 * -EIO comes from the list's length or entries, and concerns this
	 * runlist alone.
	 */
	if (ret != -EIO)
		return ret;
	part_set_error(part, ret);
	return 0;
}

static int block_status(const struct nvdebug_block *block)
{
	return block ? block->status : NVDEBUG_INSTANCE_NOT_BOUND;
}

static bool same_space(const struct nvdebug_block *a,
		       const struct nvdebug_block *b)
{
	return nvdebug_page_dir_same(nvdebug_block_compute_dir(a),
				     nvdebug_block_compute_dir(b));
}

/* Return whether two channels of a TSG belong into one row. */
static bool same_row(const struct nvdebug_block *a,
		     const struct nvdebug_block *b)
{
	int status = block_status(a);

	if (status || block_status(b))
		return status == block_status(b);
	return a->instance.veid == b->instance.veid && same_space(a, b);
}

static bool same_known_space(const struct nvdebug_block *a,
			     const struct nvdebug_block *b)
{
	return !block_status(a) && !block_status(b) && same_space(a, b);
}

typedef bool (*match_fn)(const struct nvdebug_block *a,
			 const struct nvdebug_block *b);

/*
 * Add a row to the TSG from @first to @end: the channel at @at, which is the
 * first of the row, and the later channels that match it.
 */
static void add_row(struct context_part *part, u32 first, u32 end, u32 at,
		    u32 *placed)
{
	const struct nvdebug_block *block = part->member[at].block;
	struct context_row *row = &part->row[part->rows++];

	row->tsg = part->member[first].tsg;
	row->block = block;
	row->status = block_status(block);
	row->first = *placed;
	for (; at < end; at++)
		if (same_row(part->member[at].block, block))
			part->order[(*placed)++] = at;
	row->count = *placed - row->first;
}

/*
 * Return whether no channel from @first to the one before @at matches the
 * channel at @at.
 */
static bool is_first(const struct context_part *part, u32 first, u32 at,
		     match_fn match)
{
	const struct nvdebug_block *block = part->member[at].block;

	while (first < at && !match(part->member[first].block, block))
		first++;
	return first == at;
}

/*
 * Add the rows of the channels from @first to @end, which are one TSG. The
 * order is by address space, then by subcontext, each in the order of its first
 * channel. Channels that could not be read come last.
 */
static void add_rows(struct context_part *part, u32 first, u32 end)
{
	u32 begin = part->rows;
	u32 placed = first;
	u32 spaces = 0;
	u32 i, k;

	for (i = first; i < end; i++) {
		if (block_status(part->member[i].block) ||
		    !is_first(part, first, i, same_known_space))
			continue;
		spaces++;
		for (k = i; k < end; k++)
			if (same_known_space(part->member[k].block,
					     part->member[i].block) &&
			    is_first(part, first, k, same_row))
				add_row(part, first, end, k, &placed);
	}
	for (i = first; i < end; i++)
		if (block_status(part->member[i].block) &&
		    is_first(part, first, i, same_row))
			add_row(part, first, end, i, &placed);
	for (i = begin; i < part->rows; i++)
		part->row[i].spaces = spaces;
}

static int part_arrange_rows(struct context_part *part)
{
	u32 first, end;

	part->order = kvcalloc(part->members, sizeof(*part->order),
			       GFP_KERNEL_ACCOUNT);
	part->row = kvcalloc(part->members, sizeof(*part->row),
			     GFP_KERNEL_ACCOUNT);
	if (!part->order || !part->row)
		return -ENOMEM;
	for (first = 0; first < part->members; first = end) {
		end = first + 1;
		while (end < part->members &&
		       part->member[first].tsg != NO_TSG &&
		       part->member[end].tsg == part->member[first].tsg)
			end++;
		add_rows(part, first, end);
		cond_resched();
	}
	return 0;
}

static int part_confirm_members(struct nvdebug_instances *set,
				const struct context_part *part)
{
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < part->members; i++)
		if (part->member[i].block)
			ret = nvdebug_instances_confirm(set, part->member[i].id,
							part->member[i].block);
	return ret;
}

static int contexts_read(struct contexts_snapshot *s, struct nvdebug_mem *mem)
{
	struct nvdebug_topology *topology = &s->instances->gpu->topology;
	struct context_part *part;
	u32 i;
	int ret;

	for (i = 0; i < topology->runlists; i++) {
		ret = add_part(s, mem, &topology->runlist[i]);
		if (ret)
			return ret;
	}
	ret = nvdebug_instances_read(s->instances, mem);
	if (ret)
		return ret;

	s->base.records = 1;	/* the heading */
	list_for_each_entry(part, &s->parts, node) {
		ret = part_confirm_members(s->instances, part);
		if (ret == -EIO)
			part_set_error(part, ret);
		else if (!ret && !part->error)
			ret = part_arrange_rows(part);
		if (ret && ret != -EIO)
			return ret;
		s->base.records += part->rows;
	}
	return 0;
}

static struct nvdebug_snapshot *contexts_take(struct nvdebug_gpu *gpu, u32 id)
{
	struct contexts_snapshot *s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	struct nvdebug_mem *mem;
	int ret = -ENOMEM;

	if (!s)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&s->parts);
	s->instances = nvdebug_instances_create(gpu);
	if (!s->instances)
		goto err;
	s->instances->spaces_only = true;

	mem = nvdebug_mem_begin(gpu);
	if (IS_ERR(mem)) {
		ret = PTR_ERR(mem);
		goto err;
	}
	ret = contexts_read(s, mem);
	nvdebug_mem_end(mem);
	if (ret)
		goto err;
	return &s->base;

err:
	contexts_free(&s->base);
	return ERR_PTR(ret);
}

static void put_status(struct seq_file *m, int status)
{
	const char *c = nvdebug_instance_status_name(status);

	for (; *c; c++)
		seq_putc(m, *c == ' ' ? '-' : *c);
}

static void put_space(struct seq_file *m, const struct nvdebug_chip *chip,
		      const struct context_row *row, bool hide)
{
	const struct nvdebug_page_dir *dir =
		nvdebug_block_compute_dir(row->block);

	seq_printf(m, "%s %u ", row->spaces > 1 ? "yes" : "no", row->spaces);
	if (hide)
		seq_puts(m, "hidden");
	else
		seq_printf(m, "0x%010llx", dir->addr);
	seq_printf(m, " %s ", nvdebug_aperture_name(dir->aperture));
	if (chip->instance->has & NVDEBUG_INSTANCE_HAS_SUBCONTEXTS)
		seq_printf(m, "%u ", row->block->instance.veid);
	else
		seq_puts(m, "- ");
}

/* Print the line of a runlist that cannot be read. */
static void show_error(struct seq_file *m, const struct context_part *part)
{
	seq_printf(m, "%u - - - - - - - ", part->runlist);
	put_status(m, part->error);
	seq_putc(m, '\n');
}

static void show_row(struct seq_file *m, const struct nvdebug_chip *chip,
		     const struct context_part *part,
		     const struct context_row *row, bool hide)
{
	u32 i;

	seq_printf(m, "%u ", part->runlist);
	if (row->tsg == NO_TSG)
		seq_puts(m, "- ");
	else
		seq_printf(m, "%u ", row->tsg);
	if (row->status)
		seq_puts(m, "- - - - - ");
	else
		put_space(m, chip, row, hide);
	for (i = 0; i < row->count; i++)
		seq_printf(m, "%s%u", i ? "," : "",
			   part->member[part->order[row->first + i]].id);
	seq_putc(m, ' ');
	if (row->status)
		put_status(m, row->status);
	else
		seq_putc(m, '-');
	seq_putc(m, '\n');
}

static void contexts_show(struct seq_file *m, struct nvdebug_gpu *gpu,
			  const struct nvdebug_snapshot *base, size_t record)
{
	const struct contexts_snapshot *s =
		container_of(base, struct contexts_snapshot, base);
	const struct context_part *part;

	if (!record) {
		seq_puts(m, "# runlist tsg shared spaces page_directory aperture veid channels error\n");
		return;
	}
	record--;
	list_for_each_entry(part, &s->parts, node) {
		if (record < part->rows && part->error) {
			show_error(m, part);
			return;
		}
		if (record < part->rows) {
			show_row(m, gpu->chip, part, &part->row[record],
				 base->hide);
			return;
		}
		record -= part->rows;
	}
}

const struct nvdebug_view nvdebug_contexts_view = {
	.live = true,
	.take = contexts_take,
	.show = contexts_show,
	.free = contexts_free,
};
