/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * PTOP, the chip's table of its own engines, in both of its layouts.
 */
#ifndef NVDEBUG_DECODE_PTOP_H
#define NVDEBUG_DECODE_PTOP_H

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* More rows than any chip has (353) and than CFG.NUM_ROWS should say. */
#define NVDEBUG_PTOP_MAX_ROWS		512

/* Which fields of an engine the table (or who fills it in later) gave. */
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
	u32 has;	/* NVDEBUG_ENGINE_HAS_*: which of the following hold */
	u32 engine_id;
	u32 runlist;
	u32 runlist_base;
	u32 rleng;	/* slot inside the runlist, with RUNLIST_BASE */
	u32 fault_id;
	u32 reset_id;
	u32 intr_id;
	u32 pri_base;
};

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
 * @ignored counts what made no sense and was left out: words of an undefined
 * kind, devices without a type, a device cut off by the end of the table. It
 * may be NULL.
 */
int nvdebug_ptop_v1_decode(const u32 *row, size_t rows,
			   struct nvdebug_engine *engines, size_t max,
			   u32 *ignored);
int nvdebug_ptop_v2_decode(const u32 *row, size_t rows,
			   struct nvdebug_engine *engines, size_t max,
			   u32 *ignored);
/* The same rows, where a RESET_ID of 255 is none as well. */
int nvdebug_ptop_gb202_decode(const u32 *row, size_t rows,
			      struct nvdebug_engine *engines, size_t max,
			      u32 *ignored);

/*
 * Returns 0, -EPROTO for a table version other than 2 to @newest, -ERANGE for
 * a number of rows that cannot be. @cfg is filled in every case.
 */
int nvdebug_ptop_v2_cfg_decode(u32 word, u32 newest,
			       struct nvdebug_ptop_cfg *cfg);

/* NULL for a type that nobody has published. */
const char *nvdebug_engine_type_name(u32 type);

#ifdef __cplusplus
}
#endif
#endif
