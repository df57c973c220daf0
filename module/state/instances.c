// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/bitops.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "chips/chips.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "core/runlist.h"
#include "decode/channel.h"
#include "decode/instance.h"
#include "decode/runlist.h"
#include "hw/ramin.h"
#include "mmu.h"
#include "state/context_image.h"
#include "state/instances.h"
#include "state/intern.h"
#include "state/word_requests.h"
#include "state/runlist.h"

struct block_key {
	u64 addr;
	u64 aperture;
};

const char *nvdebug_instance_status_name(int status)
{
	switch (status) {
	case NVDEBUG_INSTANCE_NOT_BOUND:
		return "not bound";
	case NVDEBUG_INSTANCE_CHANGED:
		return "changing";
	case NVDEBUG_INSTANCE_NOT_MAPPED:
		return "not mapped";
	case NVDEBUG_INSTANCE_BAD_MAGIC:
		return "bad magic";
	case NVDEBUG_INSTANCE_NO_CONTEXT:
		return "none";
	case NVDEBUG_INSTANCE_NOT_READ:
		return "-";
	case -EFAULT:
		return "no such memory";
	case -EOPNOTSUPP:
		return "not allowed";
	default:
		return "unreadable";
	}
}

int nvdebug_instance_status_error(int status)
{
	switch (status) {
	case NVDEBUG_INSTANCE_NOT_BOUND:
	case NVDEBUG_INSTANCE_NO_CONTEXT:
	case NVDEBUG_INSTANCE_NOT_READ:
		return -EINVAL;
	case NVDEBUG_INSTANCE_CHANGED:
		return -EBUSY;
	case NVDEBUG_INSTANCE_NOT_MAPPED:
		return -EFAULT;
	case NVDEBUG_INSTANCE_BAD_MAGIC:
		return -EIO;
	default:
		return status;
	}
}

void nvdebug_instances_survey(struct nvdebug_gpu *gpu)
{
	const char *why = gpu->missing[NVDEBUG_FEATURE_RUNLIST];
	u32 i = 0;

	gpu->missing[NVDEBUG_FEATURE_CONTEXTS] = why;
	while (i < gpu->topology.runlists &&
	       !nvdebug_runlist_has_graphics(&gpu->topology,
					     gpu->topology.runlist[i].id))
		i++;
	if (!why && i == gpu->topology.runlists)
		why = "no graphics engine";
	gpu->missing[NVDEBUG_FEATURE_CONTEXT_STATE] = why;
	if (!why && !gpu->chip->context->has_preemption)
		why = "contexts have no preemption modes";
	gpu->missing[NVDEBUG_FEATURE_PREEMPTION_MODE] = why;
}

struct nvdebug_instances *nvdebug_instances_create(struct nvdebug_gpu *gpu)
{
	struct nvdebug_instances *set = kvzalloc(sizeof(*set),
						 GFP_KERNEL_ACCOUNT);

	if (!set)
		return NULL;
	set->gpu = gpu;
	nvdebug_intern_init(&set->blocks);
	nvdebug_intern_init(&set->tables);
	nvdebug_intern_init(&set->pointers);
	nvdebug_intern_init(&set->images);
	return set;
}

void nvdebug_instances_free(struct nvdebug_instances *set)
{
	if (!set)
		return;
	nvdebug_intern_free(&set->blocks);
	nvdebug_intern_free(&set->tables);
	nvdebug_intern_free(&set->pointers);
	nvdebug_intern_free(&set->images);
	kvfree(set);
}

struct nvdebug_block *
nvdebug_instances_add(struct nvdebug_instances *set,
		      const struct nvdebug_instance_place *place)
{
	struct block_key key = { place->addr, place->aperture };
	struct nvdebug_block *block;

	if (!place->bound)
		return NULL;
	block = nvdebug_intern(&set->blocks, sizeof(*block), &key, sizeof(key));
	if (!block)
		return ERR_PTR(-ENOMEM);
	block->addr = place->addr;
	block->aperture = place->aperture;
	block->no_context = NVDEBUG_INSTANCE_NOT_READ;
	return block;
}

/* The state of reading a block, without its subcontexts. */
struct block_read {
	struct nvdebug_block *block;
	struct nvdebug_mem_request want[NVDEBUG_WORD_RANGES];
	u32 word[NVDEBUG_INSTANCE_WORDS];
	/* For block_want_valid_again(). */
	u32 *valid;
	u32 again[1 + NV_RAMIN_SC_PDB_VALID_WORDS];
};

/*
 * Read the valid bits again if they are all ones. That is the case with all 64
 * subcontexts valid, and also if the bus did not answer. The word before them,
 * which is read with them, tells the two cases apart.
 */
static void block_want_valid_again(struct block_read *self,
				   struct list_head *wanted)
{
	const struct nvdebug_word_range range = {
		NV_RAMIN_SC_PDB_VALID - 1, ARRAY_SIZE(self->again)
	};
	u64 addr = self->block->addr + NV_RAMIN_SC_PDB_VALID * sizeof(u32);
	u32 i;

	for (i = 0; i < NVDEBUG_WORD_RANGES; i++) {
		struct nvdebug_mem_request *want = &self->want[i];

		if (want->error != -EIO || want->addr != addr ||
		    memchr_inv(want->buf, 0xff, want->words * sizeof(u32)))
			continue;
		self->valid = want->buf;
		nvdebug_range_request(want, self->block->addr,
				      self->block->aperture, range,
				      self->again, wanted);
	}
}

/* Return the chip's layout, with the words that the set needs. */
static struct nvdebug_instance_layout
set_layout(const struct nvdebug_instances *set)
{
	struct nvdebug_instance_layout layout = *set->gpu->chip->instance;

	if (set->spaces_only)
		layout.ranges = layout.space;
	return layout;
}

static int block_decode(struct nvdebug_instances *set,
			const struct nvdebug_instance_layout *layout,
			struct block_read *self)
{
	struct nvdebug_instance *instance = &self->block->instance;
	int ret = nvdebug_ranges_error(self->want);

	if (ret)
		return ret;
	if (self->valid)
		memcpy(self->valid, self->again + 1,
		       NV_RAMIN_SC_PDB_VALID_WORDS * sizeof(u32));
	ret = nvdebug_instance_decode(layout, self->word,
				      nvdebug_ranges_words(&layout->ranges),
				      instance);
	if (!ret && set->big_page_kib)
		instance->big_page_kib = set->big_page_kib;
	if (set->spaces_only)
		instance->valid &= BIT_ULL(instance->veid);
	return ret;
}

static int read_blocks(struct nvdebug_instances *set, struct nvdebug_mem *mem)
{
	const struct nvdebug_instance_layout layout = set_layout(set);
	u32 count = set->blocks.count, i = 0;
	struct nvdebug_block *block;
	struct block_read *reads;
	LIST_HEAD(wanted);
	int ret;

	reads = kvcalloc(count, sizeof(*reads), GFP_KERNEL_ACCOUNT);
	if (!reads)
		return -ENOMEM;
	list_for_each_entry(block, &set->blocks.all, base.all) {
		reads[i].block = block;
		nvdebug_ranges_request(reads[i].want, block->addr,
				       block->aperture, &layout.ranges,
				       reads[i].word, &wanted);
		i++;
	}
	ret = nvdebug_mem_read_all(mem, &wanted);
	for (i = 0; !ret && i < count; i++)
		block_want_valid_again(&reads[i], &wanted);
	if (!ret)
		ret = nvdebug_mem_read_all(mem, &wanted);
	for (i = 0; !ret && i < count; i++)
		reads[i].block->status = block_decode(set, &layout, &reads[i]);
	kvfree(reads);
	return ret;
}

/* A run of adjacent valid subcontexts of a block. */
struct table_run {
	struct nvdebug_mem_request want;
	struct nvdebug_block *block;
};

/*
 * Decode the words of all valid subcontexts of @block into @entry. *@word is
 * moved past them. Returns only fatal errors.
 */
static int block_keep_table(struct nvdebug_instances *set,
			    struct nvdebug_block *block, const u32 **word,
			    struct nvdebug_subcontext *entry)
{
	struct nvdebug_sc_table *table;
	u32 count = 0;
	u64 valid;

	for (valid = block->instance.valid; valid; valid &= valid - 1) {
		int ret = nvdebug_subcontext_decode(__ffs64(valid), *word,
						    NV_RAMIN_SC_WORDS,
						    &entry[count]);

		if (ret > 0)
			count++;
		else if (ret && !block->status)
			block->status = ret;
		*word += NV_RAMIN_SC_STRIDE;
	}
	if (block->status || !count)
		return 0;
	table = nvdebug_intern(&set->tables, sizeof(*table), entry,
			       count * sizeof(*entry));
	if (!table)
		return -ENOMEM;
	table->entry = table->base.key;
	table->count = count;
	block->table = table;
	return 0;
}

/* Request the subcontexts of all blocks. */
static void tables_want(struct nvdebug_instances *set, struct table_run *run,
			u32 *word, struct list_head *wanted)
{
	struct nvdebug_block *block;

	list_for_each_entry(block, &set->blocks.all, base.all) {
		struct nvdebug_word_range words;
		u32 next = 0;

		for (;;) {
			words = nvdebug_subcontext_range(block->instance.valid,
							 next);
			if (!words.count)
				break;
			if (set->spaces_only)
				words.count = NV_RAMIN_SC_PASID;
			run->block = block;
			nvdebug_range_request(&run->want, block->addr,
					      block->aperture, words, word,
					      wanted);
			run++;
			word += ALIGN(words.count, NV_RAMIN_SC_STRIDE);
			next = (words.first - NV_RAMIN_SC(0) + words.count) /
			       NV_RAMIN_SC_STRIDE + 1;
		}
	}
}

/* Read the subcontext tables of all blocks. */
static int read_tables(struct nvdebug_instances *set, struct nvdebug_mem *mem)
{
	size_t runs = 0, entries = 0, i;
	struct nvdebug_subcontext *entry;
	struct nvdebug_block *block;
	struct table_run *run;
	const u32 *at;
	LIST_HEAD(wanted);
	u32 *word;
	int ret;

	list_for_each_entry(block, &set->blocks.all, base.all) {
		u64 valid = block->instance.valid;

		runs += hweight64(valid & ~(valid << 1));
		entries += hweight64(valid);
	}
	run = kvcalloc(runs, sizeof(*run), GFP_KERNEL_ACCOUNT);
	word = kvcalloc(entries, NV_RAMIN_SC_STRIDE * sizeof(*word),
			GFP_KERNEL_ACCOUNT);
	entry = kvcalloc(NV_RAMIN_SC__SIZE_1, sizeof(*entry), GFP_KERNEL_ACCOUNT);
	ret = -ENOMEM;
	if (!run || !word || !entry)
		goto out;
	tables_want(set, run, word, &wanted);
	ret = nvdebug_mem_read_all(mem, &wanted);
	for (i = 0; !ret && i < runs; i++)
		if (!run[i].block->status)
			run[i].block->status = run[i].want.error;
	at = word;
	list_for_each_entry(block, &set->blocks.all, base.all)
		if (!ret)
			ret = block_keep_table(set, block, &at, entry);
out:
	kvfree(run);
	kvfree(word);
	kvfree(entry);
	return ret;
}

/* Read the big page size up to Pascal, where the chip has one size for all. */
static int read_big_page_size(struct nvdebug_instances *set,
			      struct nvdebug_mem *mem)
{
	const struct nvdebug_instance_layout *layout =
		set->gpu->chip->instance;
	u32 kib;
	int ret;

	if (layout->version > 1 || set->spaces_only)
		return 0;
	ret = nvdebug_mmu_big_page(mem, layout->has &
				   NVDEBUG_INSTANCE_HAS_BIG_PAGE_SIZE, &kib);
	if (!ret)
		set->big_page_kib = kib;
	/* An unknown size is printed as unknown. */
	return ret == -ENODEV ? ret : 0;
}

int nvdebug_instances_read(struct nvdebug_instances *set,
			   struct nvdebug_mem *mem)
{
	int ret = read_big_page_size(set, mem);

	if (!ret)
		ret = read_blocks(set, mem);
	if (!ret)
		ret = read_tables(set, mem);
	if (!ret && set->with_images)
		ret = nvdebug_context_images_read(set, mem);
	return ret;
}

int nvdebug_instances_confirm(struct nvdebug_instances *set, u32 id,
			      struct nvdebug_block *block)
{
	const struct nvdebug_channel_ops *ops = set->gpu->chip->channel;
	struct nvdebug_instance_place place;
	int ret;

	ret = nvdebug_gpu_check_stop(set->gpu);
	if (ret)
		return ret;
	cond_resched();
	/* Checking an entry again would need another copy of the list. */
	if (ops->instance_in_entry || block->status)
		return 0;
	ret = ops->locate_instance(set->gpu, id, NULL, &place);
	if (ret)
		return ret;
	if (!place.bound || place.addr != block->addr ||
	    place.aperture != block->aperture)
		block->status = NVDEBUG_INSTANCE_CHANGED;
	return 0;
}

/* Find the entry of channel @id in the current list. */
static int runlist_find_channel(struct nvdebug_gpu *gpu,
				struct nvdebug_mem *mem,
				const struct nvdebug_runlist *runlist, u32 id,
				struct nvdebug_entry *entry)
{
	const struct nvdebug_runlist_ops *ops = gpu->chip->runlist;
	struct nvdebug_runlist_copy copy;
	u32 i;
	int ret;

	ret = nvdebug_runlist_copy(gpu, mem, runlist, false, &copy);
	if (ret)
		return ret;
	if (copy.torn)
		ret = -EBUSY;
	for (i = 0; !ret && copy.words && i < copy.loc.entries; i++) {
		ret = ops->decode(copy.words + i * ops->entry_words,
				  ops->entry_words, entry);
		if (!ret && entry->kind == NVDEBUG_ENTRY_CHANNEL &&
		    entry->id == id)
			goto out;
	}
	if (!ret)
		ret = -EINVAL;
out:
	kvfree(copy.words);
	return ret;
}

int nvdebug_instances_find(struct nvdebug_instances *set,
			   struct nvdebug_mem *mem,
			   struct nvdebug_runlist *runlist, u32 id,
			   struct nvdebug_block **block)
{
	struct nvdebug_instance_place place;
	struct nvdebug_entry entry;
	int ret;

	ret = nvdebug_runlist_prepare(set->gpu, runlist);
	if (ret)
		return ret;
	if (id >= runlist->channels)
		return -ERANGE;
	ret = runlist_find_channel(set->gpu, mem, runlist, id, &entry);
	if (ret)
		return ret;
	ret = set->gpu->chip->channel->locate_instance(set->gpu, id, &entry,
						       &place);
	if (ret)
		return ret;
	*block = nvdebug_instances_add(set, &place);
	if (!*block)
		return -EINVAL;
	if (IS_ERR(*block))
		return PTR_ERR(*block);
	ret = nvdebug_instances_read(set, mem);
	if (ret)
		return ret;
	ret = nvdebug_instances_confirm(set, id, *block);
	if (ret)
		return ret;
	return nvdebug_instance_status_error((*block)->status);
}
