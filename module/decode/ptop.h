/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Decodes PTOP, the device table, in both versions. */
#ifndef NVDEBUG_DECODE_PTOP_H
#define NVDEBUG_DECODE_PTOP_H

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The limit is above the 353 rows that a known chip has at most. */
#define NVDEBUG_PTOP_MAX_ROWS		512

/* Flags of the fields of an engine that are valid. */
#define NVDEBUG_ENGINE_HAS_ID		0x01
#define NVDEBUG_ENGINE_HAS_RUNLIST	0x02
#define NVDEBUG_ENGINE_HAS_RUNLIST_BASE	0x04
#define NVDEBUG_ENGINE_HAS_FAULT_ID	0x08
#define NVDEBUG_ENGINE_HAS_RESET_ID	0x10
#define NVDEBUG_ENGINE_HAS_INTR_ID	0x20
#define NVDEBUG_ENGINE_HAS_PRI_BASE	0x40

struct nvdebug_engine {
	u32 type;	/* NV_PTOP_TYPE_* */
	u32 inst;
	u32 has;	/* NVDEBUG_ENGINE_HAS_* */
	u32 engine_id;
	u32 runlist;
	u32 runlist_base;
	u32 rleng;	/* slot in the runlist, if runlist_base is valid */
	u32 fault_id;
	u32 reset_id;
	u32 intr_id;
	u32 pri_base;
};

/* Return whether @field, one of NVDEBUG_ENGINE_HAS_*, is valid. */
static inline bool nvdebug_engine_has(const struct nvdebug_engine *engine,
				      u32 field)
{
	return engine->has & field;
}

struct nvdebug_ptop_cfg {
	u32 version;
	u32 max_devices;
	u32 max_rows_per_device;
	u32 num_rows;
};

/*
 * Decode @rows words of @row into at most @max engines.
 *
 * Returns the number of engines, or -ENOSPC if there are more than @max.
 * @ignored (may be NULL) counts what could not be decoded: words of an
 * undefined kind, devices without a type, a device truncated by the end of the
 * table.
 */
int nvdebug_ptop_v1_decode(const u32 *row, size_t rows,
			   struct nvdebug_engine *engines, size_t max,
			   u32 *ignored);
int nvdebug_ptop_v2_decode(const u32 *row, size_t rows,
			   struct nvdebug_engine *engines, size_t max,
			   u32 *ignored);
/* Decode a table in which a RESET_ID of 255 is invalid, too. */
int nvdebug_ptop_gb202_decode(const u32 *row, size_t rows,
			      struct nvdebug_engine *engines, size_t max,
			      u32 *ignored);

/*
 * Decode the table's configuration. Returns 0, -EPROTO for a table version
 * other than 2 to @newest, -ERANGE for an impossible number of rows. @cfg is
 * always filled in.
 */
int nvdebug_ptop_v2_cfg_decode(u32 word, u32 newest,
			       struct nvdebug_ptop_cfg *cfg);

/* Return the name of a type, NULL for an undocumented type. */
const char *nvdebug_engine_type_name(u32 type);

#ifdef __cplusplus
}
#endif
#endif
