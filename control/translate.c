// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * One virtual address, through the page tables as they are in memory now.
 */
#include <linux/capability.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/security.h>
#include <linux/seq_buf.h>
#include <linux/slab.h>

#include "chips/chips.h"
#include "control/controls.h"
#include "core/control.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "decode/mmu.h"
#include "decode/runlist.h"
#include "decode/translation.h"
#include "mmu.h"
#include "state/blocks.h"
#include "state/instances.h"

/* Where to start, and in what format. */
struct space {
	const struct nvdebug_mmu_format *format;
	u64 pdb;
	u8 aperture;
	u64 va_limit;	/* 0: none */
};

static int find_space(struct nvdebug_gpu *gpu, struct nvdebug_mem *mem,
		      const struct nvdebug_translation *request,
		      struct space *space)
{
	space->pdb = request->pdb;
	space->aperture = request->aperture;
	space->va_limit = 0;
	return nvdebug_mmu_format(mem, request->big_page_kib &&
				  !request->version ? 1 : request->version,
				  request->big_page_kib, &space->format);
}

static int find_channel_space(struct nvdebug_gpu *gpu, struct nvdebug_mem *mem,
			      const struct nvdebug_translation *request,
			      struct nvdebug_instances *set,
			      struct space *space)
{
	struct nvdebug_runlist *runlist =
		nvdebug_runlist_find(gpu, request->runlist);
	const struct nvdebug_instance *instance;
	const struct nvdebug_page_dir *dir;
	struct nvdebug_block *block;
	int ret;

	if (!runlist)
		return -EINVAL;
	ret = nvdebug_instances_find(set, mem, runlist, request->channel,
				     &block);
	/* an id that no channel can have is one that no list holds */
	if (ret == -ERANGE)
		return -EINVAL;
	if (ret)
		return ret == -EAGAIN ? -EBUSY : ret;

	instance = &block->instance;
	dir = request->base ? &instance->dir : nvdebug_block_compute_dir(block);
	space->pdb = dir->addr;
	space->aperture = dir->aperture;
	space->va_limit = 0;
	if (gpu->chip->instance->has & NVDEBUG_INSTANCE_HAS_LIMIT)
		space->va_limit = instance->limit;
	return nvdebug_mmu_format(mem, instance->version,
				  instance->big_page_kib, &space->format);
}

static void put(struct seq_buf *s, const char *text)
{
	seq_buf_printf(s, "%s", text);
}

static const char *aperture_name(u8 aperture)
{
	return aperture == NVDEBUG_APERTURE_PEER ? "peer" :
						   nvdebug_aperture_name(aperture);
}

static void put_table(struct seq_buf *s, const char *what,
		      const struct nvdebug_mmu_table *table)
{
	if (table->present)
		seq_buf_printf(s, " %s %#llx %s", what, table->addr,
			       aperture_name(table->aperture));
}

/* @bad: what it points to cannot be. */
static void put_entry(struct seq_buf *s, const struct nvdebug_walk_step *step,
		      bool bad)
{
	const struct nvdebug_mmu_entry *e = &step->entry;

	if (bad) {
		put(s, " bad");
		return;
	}
	switch (e->meaning) {
	case NVDEBUG_MMU_TABLE:
		put_table(s, "table", &e->table);
		break;
	case NVDEBUG_MMU_DUAL:
		put_table(s, "big", &e->table);
		put_table(s, "small", &e->small);
		break;
	case NVDEBUG_MMU_PAGE:
		seq_buf_printf(s, " page %#llx %s",
			       round_down(e->addr, 1ULL << step->level->shift),
			       aperture_name(e->aperture));
		break;
	case NVDEBUG_MMU_SPARSE:
		put(s, " sparse");
		break;
	case NVDEBUG_MMU_NO_SMALL:
		put(s, " no-small");
		break;
	default:
		put(s, " invalid");
	}
}

static void put_step(struct seq_buf *s, const struct nvdebug_walk_step *step,
		     bool bad)
{
	seq_buf_printf(s, "%s[%u]: %#llx %s 0x", step->level->name, step->index,
		       step->addr, aperture_name(step->aperture));
	if (step->words == NVDEBUG_MMU_ENTRY_WORDS)
		seq_buf_printf(s, "%016llx", step->raw[1]);
	seq_buf_printf(s, "%016llx", step->raw[0]);
	put_entry(s, step, bad);
	put(s, "\n");
}

static void put_flags(struct seq_buf *s, const struct nvdebug_walk *w)
{
	static const struct {
		u8 flag;
		const char *name;
	} flags[] = {
		{ NVDEBUG_PAGE_PRIVILEGED, "privileged" },
		{ NVDEBUG_PAGE_READ_ONLY, "read-only" },
		{ NVDEBUG_PAGE_NO_ATOMICS, "no-atomics" },
		{ NVDEBUG_PAGE_VOLATILE, "volatile" },
		{ NVDEBUG_PAGE_COMPRESSED, "compressed" },
	};
	size_t i;

	put(s, "flags:");
	for (i = 0; i < ARRAY_SIZE(flags); i++)
		if (w->flags & flags[i].flag)
			seq_buf_printf(s, " %s", flags[i].name);
	if (w->kind)
		seq_buf_printf(s, " kind=%u", w->kind);
	if (w->state == NVDEBUG_WALK_PEER)
		seq_buf_printf(s, " peer=%u", w->peer);
	else if (!w->flags && !w->kind)
		put(s, " -");
	put(s, "\n");
}

/* Where the walk ended without a page, and why. */
static void put_error(struct seq_buf *s, const struct nvdebug_walk *w,
		      int error)
{
	const struct nvdebug_walk_step *last;
	const char *why;

	if (w->state == NVDEBUG_WALK_OUT_OF_RANGE) {
		put(s, "beyond the channel's limit");
		return;
	}
	if (w->steps) {
		last = &w->step[w->steps - 1];
		seq_buf_printf(s, "%s[%u] ", last->level->name, last->index);
	} else {
		put(s, "the page directory ");
	}

	switch (w->state) {
	case NVDEBUG_WALK_GOING:
		why = error == -EFAULT ? "is or leads to no memory" :
					 "cannot be read";
		break;
	case NVDEBUG_WALK_SPARSE:
		why = "is sparse";
		break;
	case NVDEBUG_WALK_NO_SMALL:
		why = "is invalid, and small pages are ruled out";
		break;
	case NVDEBUG_WALK_BAD_APERTURE:
		why = "has an undefined aperture";
		break;
	case NVDEBUG_WALK_BAD_TABLE:
		why = w->steps ? "leads to a table outside of memory" :
				 "is outside of memory";
		break;
	default:
		why = "is invalid";
	}
	put(s, why);
}

/* @error: that of the entry that was wanted last. */
static void put_answer(struct seq_buf *s, const struct space *space,
		       const struct nvdebug_walk *w, int error)
{
	bool mapped = w->state == NVDEBUG_WALK_MAPPED ||
		      w->state == NVDEBUG_WALK_PEER;
	u8 i;

	seq_buf_printf(s, "virtual_address: %#llx\n", w->va);
	seq_buf_printf(s, "page_directory: %#llx %s\n", space->pdb,
		       aperture_name(space->aperture));
	seq_buf_printf(s, "page_tables: %u\n", space->format->version);
	for (i = 0; i < w->steps; i++)
		put_step(s, &w->step[i], w->state == NVDEBUG_WALK_BAD_TABLE &&
			 i + 1 == w->steps &&
			 w->step[i].entry.meaning != NVDEBUG_MMU_INVALID);
	if (mapped) {
		seq_buf_printf(s, "result: %#llx %s\npage_size: %llu\n",
			       w->addr, aperture_name(w->aperture),
			       w->page_size);
		put_flags(s, w);
		put(s, "error: -\n");
	} else {
		put(s, "result: -\npage_size: -\nflags: -\nerror: ");
		put_error(s, w, error);
		put(s, "\n");
	}
}

/* Do all of a walk that was started with @want. */
static int walk_run(struct nvdebug_mmu_walk *w, struct nvdebug_mem *mem,
		    struct nvdebug_mem_request *want)
{
	int ret;

	do {
		ret = nvdebug_mem_read(mem, want);
		if (ret)
			return ret;
	} while (nvdebug_mmu_walk_step(w, want));
	return 0;
}

static int walk(struct nvdebug_gpu *gpu, struct nvdebug_mem *mem,
		const struct space *space, u64 va, struct seq_buf *answer)
{
	struct nvdebug_mem_request want;
	struct nvdebug_mmu_walk *w;
	u64 in_format = va;
	int ret = 0;

	if (!nvdebug_mmu_va(space->format, &in_format))
		return -ERANGE;
	w = kmalloc(sizeof(*w), GFP_KERNEL_ACCOUNT);
	if (!w)
		return -ENOMEM;
	if (nvdebug_mmu_walk_start(w, gpu, space->format, space->pdb,
				   space->aperture, space->va_limit, va, &want))
		ret = walk_run(w, mem, &want);
	if (!ret || ret == -EFAULT) {
		put_answer(answer, space, &w->walk, ret);
		ret = 0;
	}
	kfree(w);
	return ret;
}

static int translate(struct nvdebug_gpu *gpu, struct nvdebug_mem *mem,
		     const struct nvdebug_translation *request,
		     struct seq_buf *answer)
{
	struct nvdebug_instances *set = nvdebug_instances_create(gpu);
	struct space space;
	int ret;

	if (!set)
		return -ENOMEM;
	if (request->by_channel)
		ret = find_channel_space(gpu, mem, request, set, &space);
	else
		ret = find_space(gpu, mem, request, &space);
	if (!ret)
		ret = walk(gpu, mem, &space, request->va, answer);
	nvdebug_instances_free(set);
	return ret;
}

/*
 * A page directory may be said to be anywhere in memory, and what is there is
 * shown: that takes the rights to read all memory.
 */
static bool may_ask(void)
{
	return capable(CAP_SYS_ADMIN) && capable(CAP_SYS_RAWIO) &&
	       !security_locked_down(LOCKDOWN_DEV_MEM);
}

static int act(struct nvdebug_gpu *gpu, const char *text, size_t len,
	       struct seq_buf *answer, struct nvdebug_undo **undo)
{
	struct nvdebug_translation request;
	struct nvdebug_mem *mem;
	int ret;

	if (!may_ask())
		return -EPERM;
	ret = nvdebug_translation_parse(text, len, &request);
	if (ret)
		return ret;
	ret = nvdebug_gpu_begin(gpu);
	if (ret)
		return ret;
	mem = nvdebug_mem_begin(gpu);
	if (IS_ERR(mem)) {
		ret = PTR_ERR(mem);
	} else {
		ret = translate(gpu, mem, &request, answer);
		nvdebug_mem_end(mem);
	}
	nvdebug_gpu_end(gpu);
	return ret;
}

const struct nvdebug_control nvdebug_translate_control = {
	.text_max = 255,
	.answers = true,
	.act = act,
};
