// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/err.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "chips/chips.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "core/view.h"
#include "decode/ptop.h"
#include "views/views.h"

/*
 * Take an empty snapshot. gpu->topology needs no copy, because it is constant:
 * a GPU that is probed again gets a new struct nvdebug_gpu.
 */
static struct nvdebug_snapshot *device_info_take(struct nvdebug_gpu *gpu,
						 u32 id)
{
	struct nvdebug_snapshot *snapshot = kzalloc(sizeof(*snapshot),
						    GFP_KERNEL_ACCOUNT);

	if (!snapshot)
		return ERR_PTR(-ENOMEM);
	snapshot->records = gpu->topology.engines + 1;
	return snapshot;
}

static void device_info_free(struct nvdebug_snapshot *snapshot)
{
	kfree(snapshot);
}

static void put_number(struct seq_file *m, int width, bool present, u32 value)
{
	if (present)
		seq_printf(m, " %*u", width, value);
	else
		seq_printf(m, " %*s", width, "-");
}

static void put_offset(struct seq_file *m, int width, bool present, u32 value)
{
	/* %#x would print 0 without 0x. */
	if (present)
		seq_printf(m, " %*s0x%06x", width - 8, "", value);
	else
		seq_printf(m, " %*s", width, "-");
}

static void put_pbdma_numbers(struct seq_file *m,
			      const struct nvdebug_runlist *runlist)
{
	u32 i;

	if (!runlist || !runlist->pbdmas) {
		seq_puts(m, " -\n");
		return;
	}
	for (i = 0; i < runlist->pbdmas; i++)
		seq_printf(m, "%c%u", i ? ',' : ' ', runlist->pbdma[i].number);
	seq_putc(m, '\n');
}

static void device_info_show(struct seq_file *m, struct nvdebug_gpu *gpu,
			     const struct nvdebug_snapshot *snapshot,
			     size_t record)
{
	const struct nvdebug_engine *e;
	const struct nvdebug_runlist *runlist = NULL;
	const char *name;

	if (!record) {
		seq_puts(m, "# engine inst runlist runlist_base engine_id fault_id reset_id intr_id pri_base pbdmas\n");
		return;
	}

	e = &gpu->topology.engine[record - 1];
	name = nvdebug_engine_type_name(e->type);
	if (name)
		seq_printf(m, "%-8s", name);
	else
		seq_printf(m, "TYPE-%-3u", e->type);
	if (nvdebug_engine_has(e, NVDEBUG_ENGINE_HAS_RUNLIST))
		runlist = nvdebug_runlist_find(&gpu->topology, e->runlist);

	put_number(m, 4, true, e->inst);
	put_number(m, 7, nvdebug_engine_has(e, NVDEBUG_ENGINE_HAS_RUNLIST),
		   e->runlist);
	put_offset(m, 12,
		   nvdebug_engine_has(e, NVDEBUG_ENGINE_HAS_RUNLIST_BASE),
		   e->runlist_base);
	put_number(m, 9, nvdebug_engine_has(e, NVDEBUG_ENGINE_HAS_ID),
		   e->engine_id);
	put_number(m, 8, nvdebug_engine_has(e, NVDEBUG_ENGINE_HAS_FAULT_ID),
		   e->fault_id);
	put_number(m, 8, nvdebug_engine_has(e, NVDEBUG_ENGINE_HAS_RESET_ID),
		   e->reset_id);
	put_number(m, 7, nvdebug_engine_has(e, NVDEBUG_ENGINE_HAS_INTR_ID),
		   e->intr_id);
	put_offset(m, 8, nvdebug_engine_has(e, NVDEBUG_ENGINE_HAS_PRI_BASE),
		   e->pri_base);
	put_pbdma_numbers(m, runlist);
}

const struct nvdebug_view nvdebug_device_info_view = {
	.take = device_info_take,
	.show = device_info_show,
	.free = device_info_free,
};
