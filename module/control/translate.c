// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * The control translate walks the page tables in memory for one virtual
 * address.
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

/* An address space: page directory and format. */
struct va_space {
	const struct nvdebug_mmu_format *format;
	u64 pdb;
	u8 aperture;
	u64 va_limit;	/* 0: none */
};

static int va_space_by_pdb(struct nvdebug_gpu *gpu, struct nvdebug_mem *mem,
			   const struct nvdebug_translation *request,
			   struct va_space *space)
{
	space->pdb = request->pdb;
	space->aperture = request->aperture;
	space->va_limit = 0;
	return nvdebug_mmu_format(mem, request->big_page_kib &&
				  !request->version ? 1 : request->version,
				  request->big_page_kib, &space->format);
}

static int va_space_by_channel(struct nvdebug_gpu *gpu, struct nvdebug_mem *mem,
			       const struct nvdebug_translation *request,
			       struct nvdebug_instances *set,
			       struct va_space *space)
{
	struct nvdebug_runlist *runlist =
		nvdebug_runlist_find(&gpu->topology, request->runlist);
	const struct nvdebug_instance *instance;
	const struct nvdebug_page_dir *dir;
	struct nvdebug_block *block;
	int ret;

	if (!runlist)
		return -EINVAL;
	ret = nvdebug_instances_find(set, mem, runlist, request->channel,
				     &block);
	/* No list has an impossible id either. */
	if (ret)
		return ret == -ERANGE ? -EINVAL : ret;

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

static void put_text(struct seq_buf *s, const char *text)
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

/* Print an entry. @bad: the entry points outside of memory. */
static void put_entry(struct seq_buf *s, const struct nvdebug_walk_step *step,
		      bool bad)
{
	const struct nvdebug_mmu_entry *e = &step->entry;

	if (bad) {
		put_text(s, " bad");
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
		put_text(s, " sparse");
		break;
	case NVDEBUG_MMU_NO_SMALL:
		put_text(s, " no-small");
		break;
	default:
		put_text(s, " invalid");
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
	put_text(s, "\n");
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

	put_text(s, "flags:");
	for (i = 0; i < ARRAY_SIZE(flags); i++)
		if (w->flags & flags[i].flag)
			seq_buf_printf(s, " %s", flags[i].name);
	if (w->kind)
		seq_buf_printf(s, " kind=%u", w->kind);
	if (w->state == NVDEBUG_WALK_PEER)
		seq_buf_printf(s, " peer=%u", w->peer);
	else if (!w->flags && !w->kind)
		put_text(s, " -");
	put_text(s, "\n");
}

/* Print where the walk ended without a page, and why. */
static void put_walk_error(struct seq_buf *s, const struct nvdebug_walk *w,
			   int error)
{
	const struct nvdebug_walk_step *last;
	const char *why;

	if (w->state == NVDEBUG_WALK_OUT_OF_RANGE) {
		put_text(s, "beyond the channel's limit");
		return;
	}
	if (w->steps) {
		last = &w->step[w->steps - 1];
		seq_buf_printf(s, "%s[%u] ", last->level->name, last->index);
	} else {
		put_text(s, "the page directory ");
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
	put_text(s, why);
}

/* Print the result of a walk. @error is the error of reading the last entry. */
static void put_translation(struct seq_buf *s, const struct va_space *space,
			    const struct nvdebug_walk *w, int error)
{
	bool mapped = w->state == NVDEBUG_WALK_MAPPED ||
		      w->state == NVDEBUG_WALK_PEER;
	u8 i;

	seq_buf_printf(s, "virtual_address: %#llx\n", w->va);
	/* Code 1 is another GPU's memory in an entry, but invalid in a root. */
	seq_buf_printf(s, "page_directory: %#llx %s\n", space->pdb,
		       nvdebug_aperture_name(space->aperture));
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
		put_text(s, "error: -\n");
	} else {
		put_text(s, "result: -\npage_size: -\nflags: -\nerror: ");
		put_walk_error(s, w, error);
		put_text(s, "\n");
	}
}

static int translate_va(struct nvdebug_gpu *gpu, struct nvdebug_mem *mem,
			const struct va_space *space, u64 va,
			struct seq_buf *answer)
{
	struct nvdebug_mmu_walk *w;
	u64 in_format = va;
	LIST_HEAD(walks);
	int ret;

	if (!nvdebug_mmu_va(space->format, &in_format))
		return -ERANGE;
	w = kmalloc(sizeof(*w), GFP_KERNEL_ACCOUNT);
	if (!w)
		return -ENOMEM;
	nvdebug_mmu_walk_start(w, gpu, space->format, space->pdb,
			       space->aperture, space->va_limit, va);
	list_add(&w->node, &walks);
	ret = nvdebug_mmu_walk_all(mem, &walks);
	if (!ret)
		ret = w->want.error;
	if (!ret || ret == -EFAULT) {
		put_translation(answer, space, &w->walk, ret);
		ret = 0;
	}
	kfree(w);
	return ret;
}

static int translate_request(struct nvdebug_gpu *gpu, struct nvdebug_mem *mem,
			     const struct nvdebug_translation *request,
			     struct seq_buf *answer)
{
	struct nvdebug_instances *set = nvdebug_instances_create(gpu);
	struct va_space space;
	int ret;

	if (!set)
		return -ENOMEM;
	if (request->by_channel)
		ret = va_space_by_channel(gpu, mem, request, set, &space);
	else
		ret = va_space_by_pdb(gpu, mem, request, &space);
	if (!ret)
		ret = translate_va(gpu, mem, &space, request->va, answer);
	nvdebug_instances_free(set);
	return ret;
}

/*
 * Return whether the caller may use the control. The caller chooses the address
 * of the page directory, and its contents are shown, so the rights to read all
 * memory are required.
 */
static bool may_translate(void)
{
	return capable(CAP_SYS_ADMIN) && capable(CAP_SYS_RAWIO) &&
	       !security_locked_down(LOCKDOWN_DEV_MEM);
}

static int translate_act(struct nvdebug_gpu *gpu, const char *text, size_t len,
			 struct seq_buf *answer, struct nvdebug_undo **undo)
{
	struct nvdebug_translation request;
	struct nvdebug_mem *mem;
	int ret;

	if (!may_translate())
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
		ret = translate_request(gpu, mem, &request, answer);
		nvdebug_mem_end(mem);
	}
	nvdebug_gpu_end(gpu);
	return ret;
}

const struct nvdebug_control nvdebug_translate_control = {
	.text_max = 255,
	.answers = true,
	.act = translate_act,
};
