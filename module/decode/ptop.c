// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/bitfield.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "decode/ptop.h"
#include "hw/ptop.h"

/* The output of a decoder. */
struct engine_sink {
	struct nvdebug_engine *engines;
	size_t max;
	size_t count;
	u32 ignored;
};

static int sink_add(struct engine_sink *sink,
		    const struct nvdebug_engine *engine)
{
	if (sink->count == sink->max)
		return -ENOSPC;
	sink->engines[sink->count++] = *engine;
	return 0;
}

static int sink_finish(const struct engine_sink *sink, u32 *ignored)
{
	if (ignored)
		*ignored = sink->ignored;
	return sink->count;
}

/*
 * Set the base. PRI_BASE has no valid bit. Offset 0 is PMC, which is not an
 * engine, so 0 means unknown.
 */
static void set_pri_base(struct nvdebug_engine *engine, u32 pri_base)
{
	if (!pri_base)
		return;
	engine->pri_base = pri_base;
	engine->has |= NVDEBUG_ENGINE_HAS_PRI_BASE;
}

static void v1_data(struct nvdebug_engine *engine, u32 word)
{
	engine->inst = FIELD_GET(NV_PTOP_DEVICE_INFO_DATA_INST_ID, word);
	set_pri_base(engine, word & NV_PTOP_DEVICE_INFO_DATA_PRI_BASE);
	if (word & NV_PTOP_DEVICE_INFO_DATA_FAULT_ID) {
		engine->fault_id =
			FIELD_GET(NV_PTOP_DEVICE_INFO_DATA_FAULT_ID_ENUM, word);
		engine->has |= NVDEBUG_ENGINE_HAS_FAULT_ID;
	}
}

static void v1_enum(struct nvdebug_engine *engine, u32 word)
{
	if (word & NV_PTOP_DEVICE_INFO_ENGINE) {
		engine->engine_id =
			FIELD_GET(NV_PTOP_DEVICE_INFO_ENGINE_ENUM, word);
		engine->has |= NVDEBUG_ENGINE_HAS_ID;
	}
	if (word & NV_PTOP_DEVICE_INFO_RUNLIST) {
		engine->runlist =
			FIELD_GET(NV_PTOP_DEVICE_INFO_RUNLIST_ENUM, word);
		engine->has |= NVDEBUG_ENGINE_HAS_RUNLIST;
	}
	if (word & NV_PTOP_DEVICE_INFO_INTR) {
		engine->intr_id = FIELD_GET(NV_PTOP_DEVICE_INFO_INTR_ENUM, word);
		engine->has |= NVDEBUG_ENGINE_HAS_INTR_ID;
	}
	if (word & NV_PTOP_DEVICE_INFO_RESET) {
		engine->reset_id =
			FIELD_GET(NV_PTOP_DEVICE_INFO_RESET_ENUM, word);
		engine->has |= NVDEBUG_ENGINE_HAS_RESET_ID;
	}
}

int nvdebug_ptop_v1_decode(const u32 *row, size_t rows,
			   struct nvdebug_engine *engines, size_t max,
			   u32 *ignored)
{
	struct engine_sink sink = { engines, max, 0, 0 };
	struct nvdebug_engine engine;
	bool open = false, typed = false;
	size_t i;

	for (i = 0; i < rows; i++) {
		u32 word = row[i];
		u32 entry = FIELD_GET(NV_PTOP_DEVICE_INFO_ENTRY, word);

		/* Empty words are skipped, also inside a chain. */
		if (entry == NV_PTOP_DEVICE_INFO_ENTRY_NOT_VALID)
			continue;

		if (!open) {
			memset(&engine, 0, sizeof(engine));
			open = true;
			typed = false;
		}

		switch (entry) {
		case NV_PTOP_DEVICE_INFO_ENTRY_DATA:
			/* The other value has no layout that is defined. */
			if (word & NV_PTOP_DEVICE_INFO_DATA_TYPE)
				sink.ignored++;
			else
				v1_data(&engine, word);
			break;
		case NV_PTOP_DEVICE_INFO_ENTRY_ENUM:
			v1_enum(&engine, word);
			break;
		case NV_PTOP_DEVICE_INFO_ENTRY_ENGINE_TYPE:
			engine.type =
				FIELD_GET(NV_PTOP_DEVICE_INFO_TYPE_ENUM, word);
			typed = true;
			break;
		}

		if (word & NV_PTOP_DEVICE_INFO_CHAIN)
			continue;
		open = false;
		if (!typed)
			sink.ignored++;
		else if (sink_add(&sink, &engine))
			return -ENOSPC;
	}
	sink.ignored += open;

	return sink_finish(&sink, ignored);
}

int nvdebug_ptop_v2_cfg_decode(u32 word, u32 newest,
			       struct nvdebug_ptop_cfg *cfg)
{
	cfg->version = FIELD_GET(NV_PTOP_DEVICE_INFO_CFG_VERSION, word);
	cfg->max_devices = FIELD_GET(NV_PTOP_DEVICE_INFO_CFG_MAX_DEVICES, word);
	cfg->max_rows_per_device =
		FIELD_GET(NV_PTOP_DEVICE_INFO_CFG_MAX_ROWS_PER_DEVICE, word);
	cfg->num_rows = FIELD_GET(NV_PTOP_DEVICE_INFO_CFG_NUM_ROWS, word);

	if (cfg->version < NV_PTOP_DEVICE_INFO_CFG_VERSION_INIT ||
	    cfg->version > newest)
		return -EPROTO;
	if (!cfg->num_rows || cfg->num_rows > NVDEBUG_PTOP_MAX_ROWS)
		return -ERANGE;
	return 0;
}

static void v2_row(struct nvdebug_engine *engine, size_t n, u32 row,
		   u32 no_reset_id)
{
	switch (n) {
	case 0:
		engine->type = FIELD_GET(NV_PTOP_DEVICE_INFO2_DEV_TYPE_ENUM, row);
		engine->inst =
			FIELD_GET(NV_PTOP_DEVICE_INFO2_DEV_INSTANCE_ID, row);
		engine->fault_id =
			FIELD_GET(NV_PTOP_DEVICE_INFO2_DEV_FAULT_ID, row);
		if (engine->fault_id)
			engine->has |= NVDEBUG_ENGINE_HAS_FAULT_ID;
		break;
	case 1:
		engine->reset_id =
			FIELD_GET(NV_PTOP_DEVICE_INFO2_DEV_RESET_ID, row);
		if (engine->reset_id !=
		    NV_PTOP_DEVICE_INFO2_DEV_RESET_ID_INVALID &&
		    engine->reset_id != no_reset_id)
			engine->has |= NVDEBUG_ENGINE_HAS_RESET_ID;
		set_pri_base(engine,
			     row & NV_PTOP_DEVICE_INFO2_DEV_DEVICE_PRI_BASE);
		/* Host drives the device: row 2 has its runlist. */
		if (row & NV_PTOP_DEVICE_INFO2_DEV_IS_ENGINE)
			engine->has |= NVDEBUG_ENGINE_HAS_RUNLIST_BASE;
		break;
	case 2:
		engine->rleng = FIELD_GET(NV_PTOP_DEVICE_INFO2_DEV_RLENG_ID, row);
		engine->runlist_base =
			row & NV_PTOP_DEVICE_INFO2_DEV_RUNLIST_PRI_BASE;
		break;
	}
}

static int v2_decode(const u32 *row, size_t rows,
		     struct nvdebug_engine *engines, size_t max, u32 *ignored,
		     u32 no_reset_id)
{
	struct engine_sink sink = { engines, max, 0, 0 };
	struct nvdebug_engine engine;
	size_t i, n = 0;	/* rows of this device so far */

	for (i = 0; i < rows; i++) {
		/* Inside a chain a row of zero counts as a row. */
		if (!n && !row[i])
			continue;
		if (!n)
			memset(&engine, 0, sizeof(engine));

		v2_row(&engine, n, row[i], no_reset_id);
		n++;
		if (row[i] & NV_PTOP_DEVICE_INFO2_ROW_CHAIN)
			continue;

		/*
		 * One row does not have enough data for a device, and a fourth
		 * row is undefined.
		 */
		if (n < 2 || n > 3) {
			sink.ignored++;
		} else {
			if (n < 3 || !engine.runlist_base)
				engine.has &= ~NVDEBUG_ENGINE_HAS_RUNLIST_BASE;
			if (sink_add(&sink, &engine))
				return -ENOSPC;
		}
		n = 0;
	}
	sink.ignored += n > 0;

	return sink_finish(&sink, ignored);
}

int nvdebug_ptop_v2_decode(const u32 *row, size_t rows,
			   struct nvdebug_engine *engines, size_t max,
			   u32 *ignored)
{
	return v2_decode(row, rows, engines, max, ignored,
			 NV_PTOP_DEVICE_INFO2_DEV_RESET_ID_INVALID);
}

int nvdebug_ptop_gb202_decode(const u32 *row, size_t rows,
			      struct nvdebug_engine *engines, size_t max,
			      u32 *ignored)
{
	return v2_decode(row, rows, engines, max, ignored,
			 NV_PTOP_DEVICE_INFO2_DEV_RESET_ID_INVALID_GB202);
}

const char *nvdebug_engine_type_name(u32 type)
{
	static const char * const names[] = {
		[NV_PTOP_TYPE_GRAPHICS] = "GR",
		[NV_PTOP_TYPE_COPY0] = "COPY0",
		[NV_PTOP_TYPE_COPY1] = "COPY1",
		[NV_PTOP_TYPE_COPY2] = "COPY2",
		[NV_PTOP_TYPE_MSPDEC] = "MSPDEC",
		[NV_PTOP_TYPE_MSPPP] = "MSPPP",
		[NV_PTOP_TYPE_MSVLD] = "MSVLD",
		[NV_PTOP_TYPE_MSENC] = "MSENC",
		[NV_PTOP_TYPE_VIC] = "VIC",
		[NV_PTOP_TYPE_SEC] = "SEC",
		[NV_PTOP_TYPE_NVENC] = "NVENC",
		[NV_PTOP_TYPE_NVENC1] = "NVENC1",
		[NV_PTOP_TYPE_NVDEC] = "NVDEC",
		[NV_PTOP_TYPE_IOCTRL] = "IOCTRL",
		[NV_PTOP_TYPE_LCE] = "LCE",
		[NV_PTOP_TYPE_GSP] = "GSP",
		[NV_PTOP_TYPE_NVJPG] = "NVJPG",
		[NV_PTOP_TYPE_OFA] = "OFA",
		[NV_PTOP_TYPE_FLA] = "FLA",
		[NV_PTOP_TYPE_HSHUB] = "HSHUB",
		[NV_PTOP_TYPE_TMR] = "TMR",
		[NV_PTOP_TYPE_PBUS] = "PBUS",
		[NV_PTOP_TYPE_PTOP] = "PTOP",
		[NV_PTOP_TYPE_HUBMMU] = "HUBMMU",
	};

	return type < ARRAY_SIZE(names) ? names[type] : NULL;
}
