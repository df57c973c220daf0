// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/bitfield.h>
#include <linux/errno.h>
#include <linux/kernel.h>

#include "decode/geometry.h"
#include "hw/cwd.h"
#include "hw/pfb.h"

u32 nvdebug_unit_mask(u32 units)
{
	return units < 32 ? BIT(units) - 1 : U32_MAX;
}

void nvdebug_cwd_fs_decode(u32 word, u32 *gpcs, u32 *tpcs)
{
	*gpcs = FIELD_GET(NV_PGRAPH_PRI_CWD_FS_NUM_GPCS, word);
	*tpcs = FIELD_GET(NV_PGRAPH_PRI_CWD_FS_NUM_TPCS, word);
}

void nvdebug_cwd_partition_decode(u32 word, struct nvdebug_cwd_partition *out)
{
	out->partitioning =
		FIELD_GET(NV_PGRAPH_PRI_CWD_PARTITION_CTL_PARTITIONING_SELECT,
			  word);
	out->table = FIELD_GET(NV_PGRAPH_PRI_CWD_PARTITION_CTL_TBL_SEL, word);
	out->veid_offset =
		FIELD_GET(NV_PGRAPH_PRI_CWD_PARTITION_CTL_VEID_OFFSET, word);
	out->table_offset =
		FIELD_GET(NV_PGRAPH_PRI_CWD_PARTITION_CTL_TBL_OFFSET, word);
}

const char *nvdebug_partitioning_name(u32 partitioning)
{
	static const char * const names[] = {
		[NVDEBUG_PARTITIONING_NONE] = "none",
		[NVDEBUG_PARTITIONING_STATIC] = "static",
		[NVDEBUG_PARTITIONING_DYNAMIC] = "dynamic",
	};

	return partitioning < ARRAY_SIZE(names) ? names[partitioning] :
						  "undefined";
}

const char *nvdebug_partition_table_name(u32 table)
{
	static const char * const names[] = { "none", "enable", "lmem" };

	return table < ARRAY_SIZE(names) ? names[table] : "undefined";
}

int nvdebug_tpc_find(const u32 *word, u32 words, u32 id,
		     struct nvdebug_tpc_place *out)
{
	u32 place;

	if (id / NVDEBUG_TPCS_PER_WORD >= words)
		return -ERANGE;
	place = word[id / NVDEBUG_TPCS_PER_WORD] >> (id % NVDEBUG_TPCS_PER_WORD * 8);
	out->gpc = FIELD_GET(NV_PGRAPH_PRI_CWD_GPC_TPC_ID_GPC, place);
	out->tpc = FIELD_GET(NV_PGRAPH_PRI_CWD_GPC_TPC_ID_TPC, place);
	return 0;
}

bool nvdebug_tpcs_differ(const u32 *word, u32 words, u32 tpcs)
{
	struct nvdebug_tpc_place place;
	u16 seen[16] = { };	/* bits of TPCs seen in each GPC */
	u32 id;

	for (id = 0; id < tpcs; id++) {
		if (nvdebug_tpc_find(word, words, id, &place) ||
		    seen[place.gpc] & BIT(place.tpc))
			return false;
		seen[place.gpc] |= BIT(place.tpc);
	}
	return true;
}

static u64 memory_range(u32 word, u64 mag)
{
	return mag << (FIELD_GET(NV_PFB_PRI_MMU_LOCAL_MEMORY_RANGE_LOWER_SCALE,
				 word) + NV_PFB_SIZE_SHIFT);
}

/* ECC bits are stored in video memory, and take 1/16 of it. */
u64 nvdebug_video_memory_gp102(u32 word)
{
	u32 mag = FIELD_GET(NV_PFB_PRI_MMU_LOCAL_MEMORY_RANGE_LOWER_MAG_GP102,
			    word);
	u64 bytes = memory_range(word, mag);

	if (word & NV_PFB_PRI_MMU_LOCAL_MEMORY_RANGE_ECC_MODE_GP102)
		bytes -= bytes / 16;
	return bytes;
}

u64 nvdebug_video_memory_ga102(u32 word)
{
	return (u64)word << NV_PFB_SIZE_SHIFT;
}
