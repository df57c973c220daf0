/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Chip geometry: disabled GPCs and TPCs, the work distributor's numbering of
 * SMs, size of video memory.
 */
#ifndef NVDEBUG_DECODE_GEOMETRY_H
#define NVDEBUG_DECODE_GEOMETRY_H

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Return a mask with a bit for each of @units units. */
u32 nvdebug_unit_mask(u32 units);

enum nvdebug_partitioning {
	NVDEBUG_PARTITIONING_NONE,
	NVDEBUG_PARTITIONING_STATIC,
	NVDEBUG_PARTITIONING_DYNAMIC,
	NVDEBUG_PARTITIONING_UNDEFINED,
};

struct nvdebug_cwd_partition {
	u8 partitioning;	/* enum nvdebug_partitioning */
	u8 table;		/* TBL_SEL */
	u8 veid_offset;
	u8 table_offset;
};

#define NVDEBUG_TPCS_PER_WORD	4

struct nvdebug_tpc_place {
	u8 gpc;		/* logical number of the GPC */
	u8 tpc;		/* number of the TPC in that GPC */
};

void nvdebug_cwd_fs_decode(u32 word, u32 *gpcs, u32 *tpcs);
void nvdebug_cwd_partition_decode(u32 word, struct nvdebug_cwd_partition *out);
const char *nvdebug_partitioning_name(u32 partitioning);
const char *nvdebug_partition_table_name(u32 table);

/*
 * Find the location of TPC @id in the GPC_TPC_ID words @word. -ERANGE if it is
 * beyond @words.
 */
int nvdebug_tpc_find(const u32 *word, u32 words, u32 id,
		     struct nvdebug_tpc_place *out);

/*
 * Return whether the first @tpcs all have different locations, within @words.
 */
bool nvdebug_tpcs_differ(const u32 *word, u32 words, u32 tpcs);

/*
 * Return the size of video memory in bytes, from the chip's register; 0: not
 * set.
 */
u64 nvdebug_video_memory_gp102(u32 word);
u64 nvdebug_video_memory_ga102(u32 word);

#ifdef __cplusplus
}
#endif
#endif
