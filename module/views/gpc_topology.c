// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/bitfield.h>
#include <linux/err.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "chips/chips.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "core/view.h"
#include "decode/geometry.h"
#include "hw/ptop.h"
#include "views/gpc_topology.h"
#include "views/views.h"

/* Read the mask of disabled units from the registers @reg plus @offset. */
static struct nvdebug_number read_off(struct nvdebug_gpu *gpu, const u32 *reg,
				      u32 offset, u32 units)
{
	struct nvdebug_number off = { };
	u32 word;
	int i;

	for (i = 0; i < 2 && reg[i] && !off.error; i++) {
		off.error = nvdebug_reg_read(gpu, reg[i] + offset, &word);
		gpu->gaps += !!off.error;
		if (!off.error)
			off.value |= word & nvdebug_unit_mask(units);
	}
	return off;
}

static void expect_off(struct nvdebug_gpu *gpu, const u32 *reg, u32 offset)
{
	int i;

	for (i = 0; i < 2 && reg[i]; i++)
		nvdebug_reg_expect(gpu, reg[i] + offset);
}

static void read_masks(struct nvdebug_gpu *gpu)
{
	const struct nvdebug_geometry_ops *ops = gpu->chip->geometry;
	struct nvdebug_geometry *geometry = &gpu->geometry;
	u32 gpcs = geometry->count[NVDEBUG_NUM_GPCS].value;
	u32 tpcs = geometry->count[NVDEBUG_NUM_TPC_PER_GPC].value;
	u32 i;

	geometry->gpc_mask = read_off(gpu, ops->gpc_reg, 0, gpcs);
	for (i = 0; i < gpcs; i++)
		if (geometry->gpc_mask.error ||
		    !(geometry->gpc_mask.value & BIT(i)))
			expect_off(gpu, ops->tpc_reg, 4 * i);
	for (i = 0; i < gpcs; i++) {
		/* The fuses of a disabled GPC may not answer. */
		if (!geometry->gpc_mask.error &&
		    geometry->gpc_mask.value & BIT(i))
			geometry->tpc_mask[i].value = nvdebug_unit_mask(tpcs);
		else
			geometry->tpc_mask[i] = read_off(gpu, ops->tpc_reg,
							 4 * i, tpcs);
	}
}

static void read_video_memory(struct nvdebug_gpu *gpu)
{
	const struct nvdebug_video_memory_ops *ops = gpu->chip->video_memory;
	u32 word;

	if (ops && !nvdebug_reg_read(gpu, ops->reg, &word))
		gpu->video_memory = ops->bytes(word);
	gpu->gaps += ops && !gpu->video_memory;
}

void nvdebug_geometry_survey(struct nvdebug_gpu *gpu)
{
	static const u32 regs[NVDEBUG_COUNTS] = {
		[NVDEBUG_NUM_GPCS] = NV_PTOP_SCAL_NUM_GPCS,
		[NVDEBUG_NUM_TPC_PER_GPC] = NV_PTOP_SCAL_NUM_TPC_PER_GPC,
		[NVDEBUG_NUM_CES] = NV_PTOP_SCAL_NUM_CES,
		[NVDEBUG_NUM_FBPS] = NV_PTOP_SCAL_NUM_FBPS,
		[NVDEBUG_NUM_LTCS] = NV_PTOP_SCAL_NUM_LTCS,
	};
	struct nvdebug_number *count = gpu->geometry.count;
	u32 word;
	int i;

	BUILD_BUG_ON(FIELD_MAX(NV_PTOP_SCAL_VALUE) >= NVDEBUG_GPCS_MAX);
	for (i = 0; i < NVDEBUG_COUNTS; i++)
		if (i != NVDEBUG_NUM_LTCS || gpu->chip->geometry->has_ltcs)
			nvdebug_reg_expect(gpu, regs[i]);
	for (i = 0; i < NVDEBUG_COUNTS; i++) {
		if (i == NVDEBUG_NUM_LTCS && !gpu->chip->geometry->has_ltcs)
			continue;
		count[i].error = nvdebug_reg_read(gpu, regs[i], &word);
		if (!count[i].error)
			count[i].value = FIELD_GET(NV_PTOP_SCAL_VALUE, word);
		gpu->gaps += !count[i].value;
	}

	gpu->missing[NVDEBUG_FEATURE_GPC_TOPOLOGY] = NULL;
	if (!count[NVDEBUG_NUM_GPCS].value ||
	    !count[NVDEBUG_NUM_TPC_PER_GPC].value) {
		gpu->missing[NVDEBUG_FEATURE_GPC_TOPOLOGY] =
			"PTOP does not tell the numbers of GPCs and TPCs";
		gpu->gaps += NVDEBUG_GPCS_MAX;
	} else {
		read_masks(gpu);
	}
	read_video_memory(gpu);
}

bool nvdebug_gpc_nth(struct nvdebug_gpu *gpu, u32 n, u32 *gpc)
{
	*gpc = n;
	return n < gpu->geometry.count[NVDEBUG_NUM_GPCS].value;
}

bool nvdebug_ltcs_exist(const struct nvdebug_gpu *gpu)
{
	return gpu->chip->geometry->has_ltcs;
}

bool nvdebug_local_memory_exists(const struct nvdebug_gpu *gpu)
{
	return gpu->chip && gpu->chip->video_memory;
}

/* The files, which have one number each. */

struct number_snapshot {
	struct nvdebug_snapshot base;
	u64 value;
};

static struct nvdebug_snapshot *number_take(u64 value, int error)
{
	struct number_snapshot *s;

	if (error)
		return ERR_PTR(error);
	s = kzalloc(sizeof(*s), GFP_KERNEL);
	if (!s)
		return ERR_PTR(-ENOMEM);
	s->base.records = 1;
	s->value = value;
	return &s->base;
}

static void number_free(struct nvdebug_snapshot *base)
{
	kfree(container_of(base, struct number_snapshot, base));
}

static void hex_show(struct seq_file *m, struct nvdebug_gpu *gpu,
		     const struct nvdebug_snapshot *base, size_t record)
{
	seq_printf(m, "0x%llx\n",
		   container_of(base, struct number_snapshot, base)->value);
}

static void decimal_show(struct seq_file *m, struct nvdebug_gpu *gpu,
			 const struct nvdebug_snapshot *base, size_t record)
{
	seq_printf(m, "%llu\n",
		   container_of(base, struct number_snapshot, base)->value);
}

static struct nvdebug_snapshot *known_take(const struct nvdebug_number *known)
{
	return number_take(known->value, known->error);
}

static struct nvdebug_snapshot *num_gpcs_take(struct nvdebug_gpu *gpu, u32 id)
{
	return known_take(&gpu->geometry.count[NVDEBUG_NUM_GPCS]);
}

static struct nvdebug_snapshot *num_tpc_per_gpc_take(struct nvdebug_gpu *gpu,
						     u32 id)
{
	return known_take(&gpu->geometry.count[NVDEBUG_NUM_TPC_PER_GPC]);
}

static struct nvdebug_snapshot *num_ces_take(struct nvdebug_gpu *gpu, u32 id)
{
	return known_take(&gpu->geometry.count[NVDEBUG_NUM_CES]);
}

static struct nvdebug_snapshot *num_fbps_take(struct nvdebug_gpu *gpu, u32 id)
{
	return known_take(&gpu->geometry.count[NVDEBUG_NUM_FBPS]);
}

static struct nvdebug_snapshot *num_ltcs_take(struct nvdebug_gpu *gpu, u32 id)
{
	return known_take(&gpu->geometry.count[NVDEBUG_NUM_LTCS]);
}

static struct nvdebug_snapshot *gpc_mask_take(struct nvdebug_gpu *gpu, u32 id)
{
	return known_take(&gpu->geometry.gpc_mask);
}

static struct nvdebug_snapshot *tpc_mask_take(struct nvdebug_gpu *gpu, u32 id)
{
	return known_take(&gpu->geometry.tpc_mask[id]);
}

static struct nvdebug_snapshot *local_memory_take(struct nvdebug_gpu *gpu,
						  u32 id)
{
	return number_take(gpu->video_memory, gpu->video_memory ? 0 : -EIO);
}

#define NUMBER_VIEW(name, format)				\
const struct nvdebug_view nvdebug_##name##_view = {		\
	.take = name##_take,					\
	.show = format##_show,					\
	.free = number_free,					\
}

NUMBER_VIEW(num_gpcs, hex);
NUMBER_VIEW(num_tpc_per_gpc, hex);
NUMBER_VIEW(num_ces, hex);
NUMBER_VIEW(num_fbps, hex);
NUMBER_VIEW(num_ltcs, hex);
NUMBER_VIEW(gpc_mask, hex);
NUMBER_VIEW(tpc_mask, hex);
NUMBER_VIEW(local_memory, decimal);
