// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/err.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "chips/chips.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "core/view.h"
#include "decode/geometry.h"
#include "hw/cwd.h"
#include "views/views.h"

#define MAX_WORDS	NV_PGRAPH_PRI_CWD_GPC_TPC_ID__SIZE_1_GB10B

struct cwd_snapshot {
	struct nvdebug_snapshot base;
	u32 gpcs;
	u32 tpcs;
	struct nvdebug_cwd_partition partition;
	u32 gpc_tpc_words;
	u32 gpc_tpc_id[MAX_WORDS];
	u32 sm_id[NV_PGRAPH_PRI_CWD_SM_ID__SIZE_1_GH100];
};

static int read_fs(struct nvdebug_gpu *gpu, struct cwd_snapshot *s)
{
	u32 word;
	int ret = nvdebug_reg_read(gpu, NV_PGRAPH_PRI_CWD_FS, &word);

	if (!ret)
		nvdebug_cwd_fs_decode(word, &s->gpcs, &s->tpcs);
	return ret;
}

static int read_words(struct nvdebug_gpu *gpu, u32 reg, u32 words, u32 *out)
{
	int ret = 0;
	u32 i;

	for (i = 0; i < words; i++)
		nvdebug_reg_expect(gpu, reg + 4 * i);
	for (i = 0; !ret && i < words; i++)
		ret = nvdebug_reg_read(gpu, reg + 4 * i, &out[i]);
	return ret;
}

/* Read all words or, if @need is set, only the words that have a TPC. */
static int read_gpc_tpc_id(struct nvdebug_gpu *gpu, struct cwd_snapshot *s,
			   bool need)
{
	const struct nvdebug_cwd_ops *ops = gpu->chip->cwd;

	s->gpc_tpc_words = ops->gpc_tpc_words;
	if (need || ops->fitted)
		s->gpc_tpc_words = DIV_ROUND_UP(max(s->tpcs, 1U),
						NVDEBUG_TPCS_PER_WORD);
	/* With more TPCs than the table can have, the registers are invalid. */
	if (s->gpc_tpc_words > ops->gpc_tpc_words)
		return -EIO;
	return read_words(gpu, ops->gpc_tpc_id, s->gpc_tpc_words,
			  s->gpc_tpc_id);
}

static void cwd_free(struct nvdebug_snapshot *base)
{
	kfree(container_of(base, struct cwd_snapshot, base));
}

static struct nvdebug_snapshot *cwd_done(struct cwd_snapshot *s, int ret)
{
	if (!ret)
		return &s->base;
	kfree(s);
	return ERR_PTR(ret);
}

static struct nvdebug_snapshot *sm_map_take(struct nvdebug_gpu *gpu, u32 id)
{
	const struct nvdebug_cwd_ops *ops = gpu->chip->cwd;
	struct cwd_snapshot *s = kzalloc(sizeof(*s), GFP_KERNEL);
	int ret;

	if (!s)
		return ERR_PTR(-ENOMEM);
	ret = read_fs(gpu, s);
	if (!ret)
		ret = read_gpc_tpc_id(gpu, s, true);
	/*
	 * Two TPCs at one location are invalid, too: registers read so before a
	 * driver's set-up.
	 */
	if (!ret && !nvdebug_tpcs_differ(s->gpc_tpc_id, s->gpc_tpc_words,
					 s->tpcs))
		ret = -EIO;
	s->base.records = 1 + s->tpcs * ops->sms_per_tpc;
	return cwd_done(s, ret);
}

static void sm_map_show(struct seq_file *m, struct nvdebug_gpu *gpu,
			const struct nvdebug_snapshot *base, size_t record)
{
	const struct cwd_snapshot *s =
		container_of(base, struct cwd_snapshot, base);
	const struct nvdebug_cwd_ops *ops = gpu->chip->cwd;
	struct nvdebug_tpc_place place = { };

	if (!record) {
		seq_puts(m, "# sm gpc tpc\n");
		return;
	}
	nvdebug_tpc_find(s->gpc_tpc_id, s->gpc_tpc_words,
			 (record - 1) / ops->sms_per_tpc, &place);
	seq_printf(m, "%zu %u %u\n", record - 1, place.gpc, place.tpc);
}

static int work_distributor_read(struct nvdebug_gpu *gpu,
				 struct cwd_snapshot *s)
{
	const struct nvdebug_cwd_ops *ops = gpu->chip->cwd;
	u32 word;
	int ret;

	ret = read_fs(gpu, s);
	if (ret)
		return ret;
	if (ops->has_partitions) {
		ret = nvdebug_reg_read(gpu, NV_PGRAPH_PRI_CWD_PARTITION_CTL,
				       &word);
		if (ret)
			return ret;
		nvdebug_cwd_partition_decode(word, &s->partition);
	}
	ret = read_gpc_tpc_id(gpu, s, false);
	if (ret)
		return ret;
	return read_words(gpu, ops->sm_id, ops->sm_words, s->sm_id);
}

static struct nvdebug_snapshot *work_distributor_take(struct nvdebug_gpu *gpu,
						      u32 id)
{
	struct cwd_snapshot *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return ERR_PTR(-ENOMEM);
	s->base.records = 1;
	return cwd_done(s, work_distributor_read(gpu, s));
}

static void put_words(struct seq_file *m, const char *key, const u32 *word,
		      u32 words)
{
	u32 i;

	seq_printf(m, "%s:", key);
	for (i = 0; i < words; i++)
		seq_printf(m, " 0x%08x", word[i]);
	seq_putc(m, '\n');
}

static void work_distributor_show(struct seq_file *m, struct nvdebug_gpu *gpu,
				  const struct nvdebug_snapshot *base,
				  size_t record)
{
	const struct cwd_snapshot *s =
		container_of(base, struct cwd_snapshot, base);
	const struct nvdebug_cwd_ops *ops = gpu->chip->cwd;
	const struct nvdebug_cwd_partition *p = &s->partition;

	seq_printf(m, "gpcs: %u\n", s->gpcs);
	seq_printf(m, "tpcs: %u\n", s->tpcs);
	if (ops->has_partitions) {
		seq_printf(m, "partitioning: %s\n",
			   nvdebug_partitioning_name(p->partitioning));
		seq_printf(m, "table: %s\n",
			   nvdebug_partition_table_name(p->table));
		seq_printf(m, "veid_offset: %u\n", p->veid_offset);
		seq_printf(m, "table_offset: %u\n", p->table_offset);
	} else {
		seq_puts(m, "partitioning: -\ntable: -\nveid_offset: -\ntable_offset: -\n");
	}
	put_words(m, "gpc_tpc_id", s->gpc_tpc_id, s->gpc_tpc_words);
	put_words(m, "sm_id", s->sm_id, ops->sm_words);
}

const struct nvdebug_view nvdebug_sm_map_view = {
	.live = true,
	.take = sm_map_take,
	.show = sm_map_show,
	.free = cwd_free,
};

const struct nvdebug_view nvdebug_work_distributor_view = {
	.live = true,
	.take = work_distributor_take,
	.show = work_distributor_show,
	.free = cwd_free,
};
