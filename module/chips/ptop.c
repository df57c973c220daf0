// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * The tables of devices: version 1 up to Turing, version 2 since.
 */
#include <linux/bitfield.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "chips/chips.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "core/topology.h"
#include "decode/ptop.h"
#include "hw/pbdma.h"
#include "hw/pfifo.h"
#include "hw/ptop.h"
#include "hw/runlist.h"

/* A table of devices in BAR0. */
struct ptop_table {
	u32 offset;
	u32 rows;
};

/*
 * Read and decode @table and add its engines to gpu->topology. Adds the number
 * of rows that could not be decoded to @ignored.
 */
static int ptop_read_table(struct nvdebug_gpu *gpu,
			   const struct ptop_table *table,
			   nvdebug_ptop_decode_fn decode, u32 *ignored,
			   const char **why)
{
	struct nvdebug_topology *topology = &gpu->topology;
	u32 senseless, i;
	u32 *row;
	int ret;

	row = kmalloc_array(table->rows, sizeof(*row), GFP_KERNEL);
	if (!row)
		return -ENOMEM;

	*why = "device table unreadable";
	for (i = 0; i < table->rows; i++)
		nvdebug_reg_expect(gpu, table->offset + 4 * i);
	for (i = 0; i < table->rows; i++) {
		ret = nvdebug_reg_read(gpu, table->offset + 4 * i, &row[i]);
		if (ret)
			goto out;
	}

	*why = "device table makes no sense";
	ret = decode(row, table->rows, topology->engine + topology->engines,
		     table->rows, &senseless);
	if (ret < 0)
		goto out;
	topology->engines += ret;
	*ignored += senseless;
	ret = 0;
out:
	kfree(row);
	return ret;
}

/* Read the engines of all @tables into gpu->topology. */
static int ptop_read_engines(struct nvdebug_gpu *gpu,
			     const struct ptop_table *tables, size_t count,
			     nvdebug_ptop_decode_fn decode, const char **why)
{
	struct nvdebug_topology *topology = &gpu->topology;
	u32 rows = 0, ignored = 0;
	int ret = 0;
	size_t i;

	for (i = 0; i < count; i++)
		rows += tables[i].rows;
	/*
	 * Every device takes at least one row, so the rows bound the numbers of
	 * engines and runlists.
	 */
	topology->engine = kcalloc(rows, sizeof(*topology->engine), GFP_KERNEL);
	topology->runlist = kcalloc(rows, sizeof(*topology->runlist),
				    GFP_KERNEL);
	if (!topology->engine || !topology->runlist)
		ret = -ENOMEM;
	for (i = 0; !ret && i < count; i++)
		ret = ptop_read_table(gpu, &tables[i], decode, &ignored, why);
	if (ignored)
		nvdebug_warn_ratelimit(gpu,
				       "device table: %u invalid entries\n",
				       ignored);
	if (!ret && !topology->engines) {
		*why = "device table empty";
		ret = -ENODATA;
	}
	if (ret)
		nvdebug_topology_free(topology);
	return ret;
}

static int runlist_cmp_id(const void *a, const void *b)
{
	const struct nvdebug_runlist *left = a, *right = b;

	return left->id < right->id ? -1 : left->id > right->id;
}

static void ptop_sort_runlists(struct nvdebug_topology *topology)
{
	sort(topology->runlist, topology->runlists, sizeof(*topology->runlist),
	     runlist_cmp_id, NULL);
}

static void runlist_add_pbdma(struct nvdebug_runlist *runlist, u32 number,
			      u32 base)
{
	if (runlist->pbdmas < NVDEBUG_RUNLIST_PBDMAS)
		runlist->pbdma[runlist->pbdmas++] =
			(struct nvdebug_pbdma){ number, base };
}

/*
 * Read the PBDMAs of version 1's runlists. The table numbers the runlists, and
 * the map is in PFIFO, which may not answer on an uninitialised GPU: PBDMAs
 * then stay unknown.
 */
static void ptop_read_pbdma_map(struct nvdebug_gpu *gpu)
{
	struct nvdebug_topology *topology = &gpu->topology;
	u32 n = gpu->chip->ptop->pbdmas;
	u32 base = NV_PPBDMA_BASE;
	u32 cfg0, map, i, p;

	if (!n) {
		if (nvdebug_reg_read(gpu, NV_PFIFO_CFG0, &cfg0))
			return;
		n = min_t(u32, FIELD_GET(NV_PFIFO_CFG0_NUM_PBDMA, cfg0),
			  NV_PFIFO_PBDMA_MAP__SIZE_1);
	}

	for (p = 0; p < n; p++)
		nvdebug_reg_expect(gpu, NV_PFIFO_PBDMA_MAP(p));
	for (p = 0; p < n; p++, base += NV_PPBDMA_STRIDE_GK104) {
		if (nvdebug_reg_read(gpu, NV_PFIFO_PBDMA_MAP(p), &map))
			continue;
		for (i = 0; i < topology->runlists; i++) {
			struct nvdebug_runlist *runlist = &topology->runlist[i];

			if (map & BIT(runlist->id))
				runlist_add_pbdma(runlist, p, base);
		}
	}
}

static int ptop_read_gk104(struct nvdebug_gpu *gpu, const char **why)
{
	static const struct ptop_table table = {
		NV_PTOP_DEVICE_INFO(0), NV_PTOP_DEVICE_INFO__SIZE_1
	};
	struct nvdebug_topology *topology = &gpu->topology;
	u32 i;
	int ret;

	ret = ptop_read_engines(gpu, &table, 1, nvdebug_ptop_v1_decode, why);
	if (ret)
		return ret;

	for (i = 0; i < topology->engines; i++) {
		struct nvdebug_engine *engine = &topology->engine[i];

		if (!nvdebug_engine_has(engine, NVDEBUG_ENGINE_HAS_RUNLIST) ||
		    nvdebug_runlist_find(topology, engine->runlist))
			continue;
		topology->runlist[topology->runlists++].id = engine->runlist;
	}
	ptop_sort_runlists(topology);
	ptop_read_pbdma_map(gpu);
	return 0;
}

static struct nvdebug_runlist *
ptop_find_runlist_base(struct nvdebug_topology *topology, u32 base)
{
	u32 i;

	for (i = 0; i < topology->runlists; i++)
		if (topology->runlist[i].base == base)
			return &topology->runlist[i];
	return NULL;
}

/* Add a runlist for each register block in the table, in the table's order. */
static void ptop_find_runlists(struct nvdebug_topology *topology)
{
	u32 i;

	topology->runlists = 0;
	for (i = 0; i < topology->engines; i++) {
		struct nvdebug_engine *engine = &topology->engine[i];

		if (!nvdebug_engine_has(engine,
					NVDEBUG_ENGINE_HAS_RUNLIST_BASE) ||
		    ptop_find_runlist_base(topology, engine->runlist_base))
			continue;
		topology->runlist[topology->runlists++].base =
			engine->runlist_base;
	}
}

/*
 * Read the ids of version 2's runlists. The table gives the register block of
 * each runlist; its id, as other registers use it, is in the block's
 * DOORBELL_CONFIG. A runlist that does not answer is dropped. If no runlist
 * answers, or two have the same id, the register is not at the expected offset:
 * the order of the table then numbers the runlists, and info shows that.
 */
static void ptop_name_runlists(struct nvdebug_gpu *gpu)
{
	const struct nvdebug_runlist_block *block = gpu->chip->runlist->block;
	struct nvdebug_topology *topology = &gpu->topology;
	struct nvdebug_runlist *list = topology->runlist;
	u32 named = 0, found = topology->runlists;
	bool clash = false;
	u32 i, config;

	for (i = 0; i < found; i++)
		nvdebug_reg_expect(gpu, list[i].base + block->doorbell_config);
	/* Keep the runlists that have an id, without gaps between them. */
	for (i = 0; i < found; i++) {
		u32 id;

		if (nvdebug_reg_read(gpu, list[i].base + block->doorbell_config,
				     &config))
			continue;
		id = FIELD_GET(NV_RUNLIST_DOORBELL_CONFIG_ID, config);
		if (id > NV_RUNLIST_DOORBELL_CONFIG_ID_MAX)
			continue;
		list[i].id = id;
		topology->runlists = named;
		clash |= !!nvdebug_runlist_find(topology, list[i].id);
		swap(list[named], list[i]);
		named++;
	}
	topology->runlists = named;

	if (found && (clash || !named)) {
		ptop_find_runlists(topology);
		for (i = 0; i < found; i++)
			list[i].id = i;
		topology->numbered_by_order = true;
	}
	topology->runlists_without_id = found - topology->runlists;
	if (topology->numbered_by_order || topology->runlists_without_id)
		nvdebug_warn_ratelimit(gpu,
				       "%u of %u runlists tell their id%s\n",
				       named, found,
				       clash ? ", but two the same" : "");
}

static void runlist_expect_pbdma_config(struct nvdebug_gpu *gpu,
					const struct nvdebug_runlist *runlist)
{
	u32 i;

	for (i = 0; i < NV_RUNLIST_PBDMA_CONFIG__SIZE_1; i++)
		nvdebug_reg_expect(gpu, runlist->base +
				   gpu->chip->runlist->block->pbdma_config +
				   4 * i);
}

/*
 * Read the PBDMAs of a runlist. The number of a PBDMA follows from its register
 * offset where that is documented (linux-nvgpu has an ID field in the same
 * register, the GA100 manual does not). On GB20x only the ID field is
 * available.
 */
static void runlist_read_pbdma_config(struct nvdebug_gpu *gpu,
				      struct nvdebug_runlist *runlist)
{
	const struct nvdebug_runlist_block *block = gpu->chip->runlist->block;
	u32 i, config, base, number;

	for (i = 0; i < NV_RUNLIST_PBDMA_CONFIG__SIZE_1; i++) {
		if (nvdebug_reg_read(gpu, runlist->base + block->pbdma_config +
				     4 * i, &config))
			continue;
		base = config & NV_RUNLIST_PBDMA_CONFIG_PBDMA_BAR0_OFFSET;
		if (!(config & NV_RUNLIST_PBDMA_CONFIG_VALID) ||
		    base < NV_PPBDMA_BASE)
			continue;
		number = block->pbdma_ids ?
			FIELD_GET(NV_RUNLIST_PBDMA_CONFIG_ID, config) :
			(base - NV_PPBDMA_BASE) / NV_PPBDMA_STRIDE_GA100;
		runlist_add_pbdma(runlist, number, base);
	}
}

/* Return the base of an engine's registers in its runlist's block. */
static u32 ptop_engine_slot(const struct nvdebug_engine *engine)
{
	return engine->runlist_base +
	       NV_RUNLIST_ENGINE_STATUS__STRIDE * engine->rleng;
}

static void ptop_expect_engine(struct nvdebug_gpu *gpu,
			       const struct nvdebug_engine *engine)
{
	const struct nvdebug_runlist_block *block = gpu->chip->runlist->block;
	u32 slot = ptop_engine_slot(engine);

	if (!nvdebug_engine_has(engine, NVDEBUG_ENGINE_HAS_RUNLIST_BASE) ||
	    engine->rleng >= block->engines)
		return;
	nvdebug_reg_expect(gpu, slot + block->engine_status_debug);
	if (block->engine_status1)
		nvdebug_reg_expect(gpu, slot + block->engine_status1);
}

/*
 * Fill in the fields that a version 2 table lacks, from the engine's runlist
 * registers.
 */
static void ptop_complete_engine(struct nvdebug_gpu *gpu,
				 struct nvdebug_engine *engine)
{
	const struct nvdebug_runlist_block *block = gpu->chip->runlist->block;
	struct nvdebug_runlist *runlist =
		ptop_find_runlist_base(&gpu->topology, engine->runlist_base);
	u32 slot = ptop_engine_slot(engine);
	u32 value;

	if (runlist) {
		engine->runlist = runlist->id;
		engine->has |= NVDEBUG_ENGINE_HAS_RUNLIST;
	}
	if (engine->rleng >= block->engines)
		return;

	if (!nvdebug_reg_read(gpu, slot + block->engine_status_debug, &value)) {
		engine->engine_id =
			FIELD_GET(NV_RUNLIST_ENGINE_STATUS_DEBUG_ENGINE_ID,
				  value);
		engine->has |= NVDEBUG_ENGINE_HAS_ID;
	}
	if (block->engine_status1 &&
	    !nvdebug_reg_read(gpu, slot + block->engine_status1, &value)) {
		engine->intr_id =
			FIELD_GET(NV_RUNLIST_ENGINE_STATUS1_INTR_ID, value);
		engine->has |= NVDEBUG_ENGINE_HAS_INTR_ID;
	}
}

static int ptop_read_cfg(struct nvdebug_gpu *gpu, u32 reg, u32 *rows,
			 const char **why)
{
	struct nvdebug_ptop_cfg cfg;
	u32 word;
	int ret;

	*why = "device table unreadable";
	ret = nvdebug_reg_read(gpu, reg, &word);
	if (ret)
		return ret;
	ret = nvdebug_ptop_v2_cfg_decode(word, gpu->chip->ptop->newest, &cfg);
	*why = ret == -EPROTO ? "device table of an unknown version" :
				"device table makes no sense";
	*rows = cfg.num_rows;
	return ret;
}

static int ptop_read_ga100(struct nvdebug_gpu *gpu, const char **why)
{
	struct nvdebug_topology *topology = &gpu->topology;
	struct ptop_table tables[] = {
		{ .offset = NV_PTOP_DEVICE_INFO2(0) },
		{ .offset = NV_PTOP_DEVICE_INFO2_DIE1(0) },
	};
	size_t count = 1;
	const char *ignored;
	u32 i;
	int ret;

	ret = ptop_read_cfg(gpu, NV_PTOP_DEVICE_INFO_CFG, &tables[0].rows, why);
	if (ret)
		return ret;
	/* The second die may be off. */
	if (gpu->chip->ptop->two_dies &&
	    !ptop_read_cfg(gpu, NV_PTOP_DEVICE_INFO_CFG_DIE1, &tables[1].rows,
			   &ignored))
		count++;
	ret = ptop_read_engines(gpu, tables, count, gpu->chip->ptop->decode,
				why);
	if (ret)
		return ret;

	ptop_find_runlists(topology);
	ptop_name_runlists(gpu);
	for (i = 0; i < topology->runlists; i++)
		runlist_expect_pbdma_config(gpu, &topology->runlist[i]);
	for (i = 0; i < topology->runlists; i++)
		runlist_read_pbdma_config(gpu, &topology->runlist[i]);
	ptop_sort_runlists(topology);
	for (i = 0; i < topology->engines; i++)
		ptop_expect_engine(gpu, &topology->engine[i]);
	for (i = 0; i < topology->engines; i++)
		if (nvdebug_engine_has(&topology->engine[i],
				       NVDEBUG_ENGINE_HAS_RUNLIST_BASE))
			ptop_complete_engine(gpu, &topology->engine[i]);
	return 0;
}

const struct nvdebug_ptop_ops nvdebug_ptop_gk104 = {
	.read = ptop_read_gk104,
	.pbdmas = NV_PFIFO_PBDMA_MAP__SIZE_1_GK104,
};

const struct nvdebug_ptop_ops nvdebug_ptop_gm200 = { .read = ptop_read_gk104 };

const struct nvdebug_ptop_ops nvdebug_ptop_ga100 = {
	.read = ptop_read_ga100,
	.decode = nvdebug_ptop_v2_decode,
	.newest = NV_PTOP_DEVICE_INFO_CFG_VERSION_INIT,
};

const struct nvdebug_ptop_ops nvdebug_ptop_gb100 = {
	.read = ptop_read_ga100,
	.decode = nvdebug_ptop_v2_decode,
	.newest = NV_PTOP_DEVICE_INFO_CFG_VERSION_INIT,
	.two_dies = true,
};

const struct nvdebug_ptop_ops nvdebug_ptop_gb202 = {
	.read = ptop_read_ga100,
	.decode = nvdebug_ptop_gb202_decode,
	.newest = NV_PTOP_DEVICE_INFO_CFG_VERSION_INIT_GB20C,
};
