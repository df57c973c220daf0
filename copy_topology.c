// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/bitops.h>
#include <linux/err.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "chips/chips.h"
#include "copy_topology.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "core/view.h"
#include "decode/copy.h"
#include "hw/ce.h"
#include "hw/ptop.h"
#include "views/views.h"

/* Bounds of struct nvdebug_copy_ops' pces and grces. */
#define MAX_PCES	32
#define MAX_GRCES	4

struct copy_snapshot {
	struct nvdebug_snapshot base;
	u32 value;	/* value of a file with one number */
	/* The LCE of each engine, by its number. */
	u8 pce_lce[MAX_PCES];
	u8 grce_lce[MAX_GRCES];
};

static int read_pce_map(struct nvdebug_gpu *gpu, u32 *map)
{
	int ret = nvdebug_reg_read(gpu, NV_CE_PCE_MAP, map);

	*map &= gpu->chip->copy->pce_map;
	return ret;
}

/*
 * Read the LCE of each engine in @mask. Without a @stride one register has all
 * of them, and is read once.
 */
static int read_lces(struct nvdebug_gpu *gpu, u32 reg, u32 stride, u32 mask,
		     u8 (*decode)(u32 config, u32 n), u8 *lce)
{
	unsigned long bits = mask;
	bool read = false;
	u32 config = 0;
	u32 n;
	int ret;

	for_each_set_bit(n, &bits, 32)
		if (stride)
			nvdebug_reg_expect(gpu, reg + stride * n);
	for_each_set_bit(n, &bits, 32) {
		if (stride || !read) {
			ret = nvdebug_reg_read(gpu, reg + stride * n, &config);
			if (ret)
				return ret;
			read = true;
		}
		lce[n] = decode(config, n);
	}
	return 0;
}

static int read_pces(struct nvdebug_gpu *gpu, u32 mask, u8 *lce)
{
	const struct nvdebug_copy_ops *ops = gpu->chip->copy;

	return read_lces(gpu, ops->pce_reg, ops->pce_stride,
			 mask & (BIT_ULL(ops->pces) - 1), ops->pce_lce, lce);
}

static int read_grces(struct nvdebug_gpu *gpu, u32 mask, u8 *lce)
{
	const struct nvdebug_copy_ops *ops = gpu->chip->copy;

	return read_lces(gpu, ops->grce_reg, ops->grce_stride,
			 mask & (BIT_ULL(ops->grces) - 1), ops->grce_lce, lce);
}

/* GRCE n is LCE n, if that is on the graphics runlist. */
static bool is_grce(struct nvdebug_gpu *gpu, const struct nvdebug_engine *engine)
{
	return engine->type == NV_PTOP_TYPE_LCE &&
	       engine->inst < gpu->chip->copy->grces &&
	       nvdebug_engine_is_on_graphics(&gpu->topology, engine);
}

static u32 grce_mask(struct nvdebug_gpu *gpu)
{
	u32 mask = 0;
	u32 i;

	for (i = 0; i < gpu->topology.engines; i++)
		if (is_grce(gpu, &gpu->topology.engine[i]))
			mask |= BIT(gpu->topology.engine[i].inst);
	return mask;
}

static bool nth_bit(u32 mask, u32 n, u32 *bit)
{
	while (mask && n--)
		mask &= mask - 1;
	if (!mask)
		return false;
	*bit = __ffs(mask);
	return true;
}

bool nvdebug_pce_nth(struct nvdebug_gpu *gpu, u32 n, u32 *pce)
{
	u32 mask = gpu->pce_map & (BIT_ULL(gpu->chip->copy->pces) - 1);

	return nth_bit(mask, n, pce);
}

bool nvdebug_grce_nth(struct nvdebug_gpu *gpu, u32 n, u32 *grce)
{
	return nth_bit(grce_mask(gpu), n, grce);
}

void nvdebug_copy_topology_survey(struct nvdebug_gpu *gpu)
{
	if (gpu->missing[NVDEBUG_FEATURE_COPY_TOPOLOGY])
		return;
	/*
	 * Copy engines in reset do not answer; then there are no per-PCE files.
	 */
	if (read_pce_map(gpu, &gpu->pce_map))
		gpu->pce_map = 0;
	gpu->gaps += !gpu->pce_map;
}

static struct copy_snapshot *snapshot_new(size_t records)
{
	struct copy_snapshot *s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);

	if (!s)
		return NULL;
	s->base.records = records;
	memset(s->pce_lce, NVDEBUG_LCE_NONE, sizeof(s->pce_lce));
	return s;
}

/* Return @s, or free it and return the error. */
static struct nvdebug_snapshot *snapshot_done(struct copy_snapshot *s, int ret)
{
	if (!ret)
		return &s->base;
	kfree(s);
	return ERR_PTR(ret);
}

static void copy_free(struct nvdebug_snapshot *base)
{
	kfree(container_of(base, struct copy_snapshot, base));
}

static struct nvdebug_snapshot *pce_map_take(struct nvdebug_gpu *gpu, u32 id)
{
	struct copy_snapshot *s = snapshot_new(1);

	if (!s)
		return ERR_PTR(-ENOMEM);
	return snapshot_done(s, read_pce_map(gpu, &s->value));
}

static void pce_map_show(struct seq_file *m, struct nvdebug_gpu *gpu,
			 const struct nvdebug_snapshot *base, size_t record)
{
	seq_printf(m, "0x%x\n",
		   container_of(base, struct copy_snapshot, base)->value);
}

/*
 * Take the number of the LCE of one PCE or GRCE, @id, which @read reads into an
 * array. Returns -ENODEV if there is none.
 */
static struct nvdebug_snapshot *lce_take(struct nvdebug_gpu *gpu, u32 id,
					 int (*read)(struct nvdebug_gpu *gpu,
						     u32 mask, u8 *lce))
{
	struct copy_snapshot *s = snapshot_new(1);
	int ret;

	if (!s)
		return ERR_PTR(-ENOMEM);
	ret = read(gpu, BIT(id), s->pce_lce);
	s->value = s->pce_lce[id];
	if (!ret && s->value == NVDEBUG_LCE_NONE)
		ret = -ENODEV;
	return snapshot_done(s, ret);
}

static struct nvdebug_snapshot *pce_lce_take(struct nvdebug_gpu *gpu, u32 id)
{
	return lce_take(gpu, id, read_pces);
}

static struct nvdebug_snapshot *grce_lce_take(struct nvdebug_gpu *gpu, u32 id)
{
	return lce_take(gpu, id, read_grces);
}

static void lce_show(struct seq_file *m, struct nvdebug_gpu *gpu,
		     const struct nvdebug_snapshot *base, size_t record)
{
	seq_printf(m, "%u\n",
		   container_of(base, struct copy_snapshot, base)->value);
}

static struct nvdebug_snapshot *copy_topology_take(struct nvdebug_gpu *gpu,
						   u32 id)
{
	struct copy_snapshot *s = snapshot_new(gpu->topology.engines + 1);
	u32 map;
	int ret;

	if (!s)
		return ERR_PTR(-ENOMEM);
	ret = read_pce_map(gpu, &map);
	if (!ret)
		ret = read_pces(gpu, map, s->pce_lce);
	if (!ret)
		ret = read_grces(gpu, grce_mask(gpu), s->grce_lce);
	return snapshot_done(s, ret);
}

/* Return whether the wiring registers cover the engine. */
static bool has_wiring_register(const struct nvdebug_gpu *gpu,
				const struct nvdebug_engine *engine)
{
	u32 lces = gpu->chip->copy->lces;

	return !lces || engine->inst < lces;
}

static void copy_topology_show(struct seq_file *m, struct nvdebug_gpu *gpu,
			       const struct nvdebug_snapshot *base,
			       size_t record)
{
	const struct copy_snapshot *s =
		container_of(base, struct copy_snapshot, base);
	const struct nvdebug_engine *engine;
	u32 pces = 0;
	u32 i;

	if (!record) {
		seq_puts(m, "# engine runlist pces shares\n");
		return;
	}
	engine = &gpu->topology.engine[record - 1];
	if (engine->type != NV_PTOP_TYPE_LCE || !has_wiring_register(gpu, engine))
		return;

	seq_printf(m, "LCE%u ", engine->inst);
	if (nvdebug_engine_has(engine, NVDEBUG_ENGINE_HAS_RUNLIST))
		seq_printf(m, "%u", engine->runlist);
	else
		seq_putc(m, '-');

	for (i = 0; i < MAX_PCES; i++)
		if (s->pce_lce[i] == engine->inst)
			pces |= BIT(i);
	if (pces)
		seq_printf(m, " 0x%02x", pces);
	else
		seq_puts(m, " -");

	if (is_grce(gpu, engine) &&
	    s->grce_lce[engine->inst] != NVDEBUG_LCE_NONE)
		seq_printf(m, " LCE%u\n", s->grce_lce[engine->inst]);
	else
		seq_puts(m, " -\n");
}

const struct nvdebug_view nvdebug_pce_map_view = {
	.live = true,
	.take = pce_map_take,
	.show = pce_map_show,
	.free = copy_free,
};

const struct nvdebug_view nvdebug_pce_lce_view = {
	.live = true,
	.take = pce_lce_take,
	.show = lce_show,
	.free = copy_free,
};

const struct nvdebug_view nvdebug_grce_lce_view = {
	.live = true,
	.take = grce_lce_take,
	.show = lce_show,
	.free = copy_free,
};

const struct nvdebug_view nvdebug_copy_topology_view = {
	.live = true,
	.take = copy_topology_take,
	.show = copy_topology_show,
	.free = copy_free,
};
