// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/bitops.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
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
#include "state/run_reader.h"
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
	       !nvdebug_runlist_has_graphics(gpu, gpu->topology.runlist[i].id))
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

/* The fetch of a block. */
struct block_fetch {
	struct nvdebug_fetch fetch;
	bool (*next)(struct block_fetch *self);
	struct nvdebug_instances *set;
	struct nvdebug_block *block;
	struct nvdebug_run_reader reader;
	u32 word[NVDEBUG_INSTANCE_WORDS];

	/* the subcontext table */
	u32 all_valid[1 + NV_RAMIN_SC_PDB_VALID_WORDS];
	struct nvdebug_words sc_run;
	u32 *sc_word;
	struct nvdebug_subcontext *sc;
	u32 sc_count;

	/* the context image; if set, that is being read */
	struct nvdebug_mem *mem;
	struct nvdebug_context_fetch *context;
};

static const struct nvdebug_instance_layout *
block_fetch_layout(const struct block_fetch *self)
{
	return self->set->gpu->chip->instance;
}

static bool block_fetch_want(struct block_fetch *self, struct nvdebug_words run,
			     u32 *word, bool (*next)(struct block_fetch *self))
{
	self->next = next;
	nvdebug_run_want(&self->fetch.want, self->block->addr,
			 self->block->aperture, run, word);
	return true;
}

static bool block_fetch_fail(struct block_fetch *self, int error)
{
	self->block->status = error;
	return false;
}

static bool block_fetch_abort(struct block_fetch *self, int error)
{
	self->set->error = error;
	return block_fetch_fail(self, error);
}

static bool block_fetch_keep_table(struct block_fetch *self)
{
	struct nvdebug_sc_table *table;

	if (self->sc_count) {
		table = nvdebug_intern(&self->set->tables, sizeof(*table),
				       self->sc,
				       self->sc_count * sizeof(*self->sc));
		if (!table)
			return block_fetch_abort(self, -ENOMEM);
		table->entry = table->base.key;
		table->count = self->sc_count;
		self->block->table = table;
	}
	return false;
}

static bool block_fetch_got_subcontexts(struct block_fetch *self)
{
	u32 first = (self->sc_run.first - NV_RAMIN_SC(0)) / NV_RAMIN_SC_STRIDE;
	u32 end = first + DIV_ROUND_UP(self->sc_run.count, NV_RAMIN_SC_STRIDE);
	u32 i;
	int ret;

	for (i = first; i < end; i++) {
		ret = nvdebug_subcontext_decode(i,
						self->sc_word +
						(i - first) * NV_RAMIN_SC_STRIDE,
						NV_RAMIN_SC_WORDS,
						&self->sc[self->sc_count]);
		if (ret < 0)
			return block_fetch_fail(self, ret);
		self->sc_count += ret;
	}
	self->sc_run = nvdebug_subcontext_run(self->block->instance.valid, end);
	if (self->sc_run.count)
		return block_fetch_want(self, self->sc_run, self->sc_word,
					block_fetch_got_subcontexts);
	return block_fetch_keep_table(self);
}

static bool block_fetch_start_table(struct block_fetch *self)
{
	u64 valid = self->block->instance.valid;
	u32 most = hweight64(valid);

	self->sc_run = nvdebug_subcontext_run(valid, 0);
	if (!self->sc_run.count)
		return false;
	self->sc_word = kvcalloc(most * NV_RAMIN_SC_STRIDE, sizeof(u32),
				 GFP_KERNEL_ACCOUNT);
	/* one more: decoding writes an entry before it is known to be valid */
	self->sc = kvcalloc(most + 1, sizeof(*self->sc), GFP_KERNEL_ACCOUNT);
	if (!self->sc_word || !self->sc)
		return block_fetch_abort(self, -ENOMEM);
	return block_fetch_want(self, self->sc_run, self->sc_word,
				block_fetch_got_subcontexts);
}

static bool block_fetch_next_run(struct block_fetch *self)
{
	int ret;

	if (nvdebug_run_next(&self->reader, &self->fetch.want))
		return true;
	ret = nvdebug_instance_decode(block_fetch_layout(self), self->word,
				      self->reader.words,
				      &self->block->instance);
	if (ret)
		return block_fetch_fail(self, ret);
	if (self->set->big_page_kib)
		self->block->instance.big_page_kib = self->set->big_page_kib;
	return block_fetch_start_table(self);
}

/*
 * With all 64 subcontexts valid these words are all ones, as if the bus did not
 * answer.
 */
static bool block_fetch_may_be_all_valid(const struct block_fetch *self)
{
	const struct nvdebug_mem_request *asked = &self->fetch.want;

	return self->next == block_fetch_next_run &&
	       asked->addr == self->block->addr +
			      NV_RAMIN_SC_PDB_VALID * sizeof(u32) &&
	       asked->words == NV_RAMIN_SC_PDB_VALID_WORDS &&
	       !memchr_inv(asked->buf, 0xff, asked->words * sizeof(u32));
}

static bool block_fetch_got_all_valid(struct block_fetch *self)
{
	memcpy(self->word + self->reader.words - NV_RAMIN_SC_PDB_VALID_WORDS,
	       self->all_valid + 1,
	       NV_RAMIN_SC_PDB_VALID_WORDS * sizeof(u32));
	return block_fetch_next_run(self);
}

/* Read the word before, too, to tell these apart. */
static bool block_fetch_read_word_before(struct block_fetch *self)
{
	const struct nvdebug_words run = {
		NV_RAMIN_SC_PDB_VALID - 1, ARRAY_SIZE(self->all_valid)
	};

	return block_fetch_want(self, run, self->all_valid,
				block_fetch_got_all_valid);
}

static void block_fetch_free(struct block_fetch *self)
{
	kvfree(self->sc_word);
	kvfree(self->sc);
	kfree(self->context);
	self->sc_word = NULL;
	self->sc = NULL;
	self->context = NULL;
}

static bool block_fetch_step(struct nvdebug_fetch *fetch, int error)
{
	struct block_fetch *self =
		container_of(fetch, struct block_fetch, fetch);
	bool more;

	if (self->context)
		more = nvdebug_context_step(self->context, error);
	else if (error == -EIO && block_fetch_may_be_all_valid(self))
		more = block_fetch_read_word_before(self);
	else
		more = error ? block_fetch_fail(self, error) : self->next(self);

	if (!more && !self->context && self->set->with_images &&
	    !self->block->status) {
		self->context = nvdebug_context_begin(self->set, self->mem,
						      self->block,
						      &self->fetch.want);
		more = self->context;
	}
	if (!more)
		block_fetch_free(self);
	return more;
}

/* The big page size up to Pascal, where it is a property of the chip. */
static int read_big_page_size(struct nvdebug_instances *set,
			      struct nvdebug_mem *mem)
{
	const struct nvdebug_instance_layout *layout =
		set->gpu->chip->instance;
	u32 kib;
	int ret;

	if (layout->version > 1)
		return 0;
	ret = nvdebug_mmu_big_page(mem, layout->has &
				   NVDEBUG_INSTANCE_HAS_BIG_PAGE_SIZE, &kib);
	if (!ret)
		set->big_page_kib = kib;
	/* an unknown size is printed as such */
	return ret == -ENODEV ? ret : 0;
}

int nvdebug_instances_read(struct nvdebug_instances *set,
			   struct nvdebug_mem *mem)
{
	struct nvdebug_block *block;
	struct block_fetch *fetch;
	LIST_HEAD(fetches);
	u32 i = 0;
	int ret;

	ret = read_big_page_size(set, mem);
	if (ret)
		return ret;
	fetch = kvcalloc(set->blocks.count, sizeof(*fetch), GFP_KERNEL_ACCOUNT);
	if (!fetch)
		return -ENOMEM;
	list_for_each_entry(block, &set->blocks.all, base.all) {
		fetch[i].fetch.step = block_fetch_step;
		fetch[i].next = block_fetch_next_run;
		fetch[i].set = set;
		fetch[i].mem = mem;
		fetch[i].block = block;
		fetch[i].reader.runs = &set->gpu->chip->instance->runs;
		fetch[i].reader.addr = block->addr;
		fetch[i].reader.aperture = block->aperture;
		fetch[i].reader.word = fetch[i].word;
		block_fetch_next_run(&fetch[i]);
		list_add_tail(&fetch[i].fetch.node, &fetches);
		i++;
	}
	ret = nvdebug_mem_fetch(mem, &fetches);
	while (i--)
		block_fetch_free(&fetch[i]);
	kvfree(fetch);
	return ret ? ret : set->error;
}

/* The location of channel @id's block, given its entry. */
static int channel_read_place(struct nvdebug_instances *set, u32 id,
			      const struct nvdebug_entry *entry,
			      struct nvdebug_instance_place *place)
{
	const struct nvdebug_channel_ops *ops = set->gpu->chip->channel;
	struct nvdebug_channel channel = {};
	int ret = 0;

	if (ops->read_inst)
		ret = ops->read_inst(set->gpu, id, &channel);
	if (!ret)
		ops->place(&channel, entry, place);
	return ret;
}

int nvdebug_instances_confirm(struct nvdebug_instances *set, u32 id,
			      struct nvdebug_block *block)
{
	struct nvdebug_instance_place place;
	int ret;

	if (fatal_signal_pending(current))
		return -EINTR;
	cond_resched();
	/* checking an entry again would need another copy of the list */
	if (!set->gpu->chip->channel->read_inst || block->status)
		return 0;
	ret = channel_read_place(set, id, NULL, &place);
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
	ret = channel_read_place(set, id, &entry, &place);
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
