// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/bitfield.h>
#include <linux/errno.h>
#include <linux/string.h>

#include "decode/register.h"
#include "decode/instance.h"
#include "hw/ram.h"
#include "hw/ramin.h"

#define BASE_WORDS \
	(NV_RAMIN_ENGINE_WFI_HI + 1 - NV_RAMIN_PAGE_DIR_BASE)
#define BASE_WORDS_GV100 \
	(NV_RAMIN_PASID + 1 - NV_RAMIN_PAGE_DIR_BASE)
#define DIR_WORDS	2
/*
 * From GA100 on the limit, which lies between the page directory and these
 * words, does not exist. So these words are a range of their own.
 */
#define ENGINE_WORDS_GA100 \
	(NV_RAMIN_PASID + 1 - NV_RAMIN_ENGINE_WFI)

/* Up to Pascal all work of a channel is in one address space. */
#define SPACE_GK104 \
	{ { { NV_RAMIN_PAGE_DIR_BASE, DIR_WORDS } } }
#define SPACE_GV100 { {						\
	{ NV_RAMIN_PAGE_DIR_BASE, DIR_WORDS },				\
	{ NV_RAMIN_ENGINE_WFI_VEID, 1 },				\
	{ NV_RAMIN_SC_PDB_VALID, NV_RAMIN_SC_PDB_VALID_WORDS },		\
} }

const struct nvdebug_instance_layout nvdebug_instance_gk104 = {
	.has = NVDEBUG_INSTANCE_HAS_RAMFC | NVDEBUG_INSTANCE_HAS_LIMIT,
	.version = 1,
	.privileged_word = NV_RAMFC_HCE_CTRL,
	.privileged_bit = NV_RAMFC_HCE_CTRL_PRIV_MODE,
	.dir_hi = NV_RAMIN_PAGE_DIR_BASE_HI_GK104,
	.limit_hi = NV_RAMIN_ADR_LIMIT_HI_GK104,
	.wfi_hi = NV_RAMIN_ENGINE_WFI_PTR_HI_GK104,
	.ranges = { {
		{ NV_RAMFC_TARGET, 1 },
		{ NV_RAMFC_HCE_CTRL, 1 },
		{ NV_RAMIN_PAGE_DIR_BASE, BASE_WORDS },
	} },
	.space = SPACE_GK104,
};

const struct nvdebug_instance_layout nvdebug_instance_gm200 = {
	.has = NVDEBUG_INSTANCE_HAS_RAMFC | NVDEBUG_INSTANCE_HAS_LIMIT |
	       NVDEBUG_INSTANCE_HAS_BIG_PAGE_SIZE,
	.version = 1,
	.privileged_word = NV_RAMFC_HCE_CTRL,
	.privileged_bit = NV_RAMFC_HCE_CTRL_PRIV_MODE,
	.dir_hi = NV_RAMIN_PAGE_DIR_BASE_HI_GK104,
	.limit_hi = NV_RAMIN_ADR_LIMIT_HI_GK104,
	.wfi_hi = NV_RAMIN_ENGINE_WFI_PTR_HI_GK104,
	.ranges = { {
		{ NV_RAMFC_TARGET, 1 },
		{ NV_RAMFC_HCE_CTRL, 1 },
		{ NV_RAMIN_PAGE_DIR_BASE, BASE_WORDS },
	} },
	.space = SPACE_GK104,
};

const struct nvdebug_instance_layout nvdebug_instance_gp100 = {
	.has = NVDEBUG_INSTANCE_HAS_RAMFC | NVDEBUG_INSTANCE_HAS_LIMIT |
	       NVDEBUG_INSTANCE_HAS_BIG_PAGE_SIZE,
	.privileged_word = NV_RAMFC_HCE_CTRL,
	.privileged_bit = NV_RAMFC_HCE_CTRL_PRIV_MODE,
	.dir_hi = NV_RAMIN_PAGE_DIR_BASE_HI_GP100,
	.limit_hi = NV_RAMIN_ADR_LIMIT_HI_GP100,
	.wfi_hi = NV_RAMIN_ENGINE_WFI_PTR_HI_GK104,
	.ranges = { {
		{ NV_RAMFC_TARGET, 1 },
		{ NV_RAMFC_HCE_CTRL, 1 },
		{ NV_RAMIN_PAGE_DIR_BASE, BASE_WORDS },
	} },
	.space = SPACE_GK104,
};

/* The limit is deprecated, but still written on Turing. */
const struct nvdebug_instance_layout nvdebug_instance_gv100 = {
	.has = NVDEBUG_INSTANCE_HAS_RAMFC | NVDEBUG_INSTANCE_HAS_LIMIT |
	       NVDEBUG_INSTANCE_HAS_SUBCONTEXTS,
	.version = 2,
	.privileged_word = NV_RAMFC_CONFIG,
	.privileged_bit = NV_RAMFC_CONFIG_AUTH_LEVEL,
	.dir_hi = NV_RAMIN_PAGE_DIR_BASE_HI_GP100,
	.limit_hi = NV_RAMIN_ADR_LIMIT_HI_GP100,
	.wfi_hi = NV_RAMIN_ENGINE_WFI_PTR_HI_GK104,
	.ranges = { {
		{ NV_RAMFC_TARGET, 1 },
		{ NV_RAMFC_CONFIG, 1 },
		{ NV_RAMIN_PAGE_DIR_BASE, BASE_WORDS_GV100 },
		{ NV_RAMIN_SC_PDB_VALID, NV_RAMIN_SC_PDB_VALID_WORDS },
	} },
	.space = SPACE_GV100,
};

const struct nvdebug_instance_layout nvdebug_instance_ga100 = {
	.has = NVDEBUG_INSTANCE_HAS_RAMFC | NVDEBUG_INSTANCE_HAS_SUBCONTEXTS,
	.version = 2,
	.privileged_word = NV_RAMFC_CONFIG,
	.privileged_bit = NV_RAMFC_CONFIG_AUTH_LEVEL,
	.dir_hi = NV_RAMIN_PAGE_DIR_BASE_HI_GP100,
	.wfi_hi = NV_RAMIN_ENGINE_WFI_PTR_HI_GK104,
	.ranges = { {
		{ NV_RAMFC_TARGET, 1 },
		{ NV_RAMFC_CONFIG, 1 },
		{ NV_RAMIN_PAGE_DIR_BASE, DIR_WORDS },
		{ NV_RAMIN_ENGINE_WFI, ENGINE_WORDS_GA100 },
		{ NV_RAMIN_SC_PDB_VALID, NV_RAMIN_SC_PDB_VALID_WORDS },
	} },
	.space = SPACE_GV100,
};

/*
 * No manual is public, nor any RAMFC with TARGET and CONFIG in it. The format
 * bit is 0 here and 1 in subcontexts (measured on an H100). Virtual addresses
 * have 57 bits.
 */
const struct nvdebug_instance_layout nvdebug_instance_gh100 = {
	.has = NVDEBUG_INSTANCE_HAS_SUBCONTEXTS,
	.version = 3,
	.dir_hi = NV_RAMIN_PAGE_DIR_BASE_HI_GP100,
	.wfi_hi = NV_RAMIN_ENGINE_WFI_PTR_HI_GB10B,
	.ranges = { {
		{ NV_RAMIN_PAGE_DIR_BASE, DIR_WORDS },
		{ NV_RAMIN_ENGINE_WFI, ENGINE_WORDS_GA100 },
		{ NV_RAMIN_SC_PDB_VALID, NV_RAMIN_SC_PDB_VALID_WORDS },
	} },
	.space = SPACE_GV100,
};

static u64 join_address(u32 lo, u32 lo_mask, u32 hi, u32 hi_mask)
{
	return (u64)(hi & hi_mask) << 32 | (lo & lo_mask);
}

static void decode_dir(u32 lo, u32 hi, u32 hi_mask,
		       struct nvdebug_page_dir *dir)
{
	dir->addr = join_address(lo, NV_RAMIN_PAGE_DIR_BASE_LO, hi, hi_mask);
	dir->aperture = FIELD_GET(NV_RAMIN_PAGE_DIR_BASE_TARGET, lo);
	dir->is_volatile = lo & NV_RAMIN_PAGE_DIR_BASE_VOL;
}

/* No valid address has a high word that is an error code. */
static bool is_bus_error(u32 hi)
{
	return nvdebug_reg_value_check(hi) != 0;
}

/* The same for a word of fields, of which all may be ones. */
static bool is_error_code(u32 word)
{
	return nvdebug_reg_value_check(word) == -EIO;
}

int nvdebug_instance_decode(const struct nvdebug_instance_layout *layout,
			    const u32 *word, size_t words,
			    struct nvdebug_instance *out)
{
	const struct nvdebug_word_ranges *ranges = &layout->ranges;
	u32 lo, hi, wfi, wfi_hi, pasid;

	memset(out, 0, sizeof(*out));
	if (words < nvdebug_ranges_words(ranges))
		return -EINVAL;

#define WORD(name) nvdebug_ranges_word(ranges, word, NV_##name)
	lo = WORD(RAMIN_PAGE_DIR_BASE);
	hi = WORD(RAMIN_PAGE_DIR_BASE_HI);
	wfi = WORD(RAMIN_ENGINE_WFI);
	wfi_hi = WORD(RAMIN_ENGINE_WFI_HI);
	pasid = WORD(RAMIN_PASID);
	if (is_bus_error(hi) || is_bus_error(wfi_hi) || is_error_code(pasid) ||
	    is_error_code(WORD(RAMIN_ENGINE_WFI_VEID)) ||
	    is_error_code(WORD(RAMIN_ADR_LIMIT_HI)))
		return -EIO;

	decode_dir(lo, hi, layout->dir_hi, &out->dir);
	out->version = layout->version;
	if (!out->version)
		out->version = lo & NV_RAMIN_USE_VER2_PT_FORMAT ? 2 : 1;
	if (layout->has & NVDEBUG_INSTANCE_HAS_BIG_PAGE_SIZE)
		out->big_page_kib = lo & NV_RAMIN_BIG_PAGE_SIZE_64KB ? 64 : 128;
	else if (out->version > 1)
		out->big_page_kib = 64;

	if (layout->has & NVDEBUG_INSTANCE_HAS_LIMIT)
		out->limit = join_address(WORD(RAMIN_ADR_LIMIT),
					  NV_RAMIN_ADR_LIMIT_LO,
					  WORD(RAMIN_ADR_LIMIT_HI),
					  layout->limit_hi);
	/* The limit reaches to the end of the last page; 0: not set. */
	if (out->limit)
		out->limit |= NV_RAMIN_ADR_LIMIT_IN_PAGE;

	out->wfi = join_address(wfi, NV_RAMIN_ENGINE_WFI_PTR_LO, wfi_hi,
				layout->wfi_hi);
	out->wfi_aperture = FIELD_GET(NV_RAMIN_ENGINE_WFI_TARGET, wfi);
	out->wfi_virtual = wfi & NV_RAMIN_ENGINE_WFI_MODE_VIRTUAL;

	if (layout->has & NVDEBUG_INSTANCE_HAS_RAMFC) {
		out->target_engine = FIELD_GET(NV_RAMFC_TARGET_ENGINE,
					       WORD(RAMFC_TARGET));
		out->privileged = nvdebug_ranges_word(ranges, word,
						      layout->privileged_word) &
				  layout->privileged_bit;
	}

	if (layout->has & NVDEBUG_INSTANCE_HAS_SUBCONTEXTS) {
		out->veid = FIELD_GET(NV_RAMIN_ENGINE_WFI_VEID_V,
				      WORD(RAMIN_ENGINE_WFI_VEID));
		out->pasid = FIELD_GET(NV_RAMIN_PASID_V, pasid);
		out->ats = pasid & NV_RAMIN_PASID_ENABLE_ATS;
		out->valid = (u64)WORD(RAMIN_SC_PDB_VALID + 1) << 32 |
			     WORD(RAMIN_SC_PDB_VALID);
	}
#undef WORD
	return 0;
}

static bool is_valid_subcontext(u64 bits, u32 n)
{
	return bits >> n & 1;
}

struct nvdebug_word_range nvdebug_subcontext_range(u64 valid, u32 first)
{
	struct nvdebug_word_range range = { 0, 0 };
	u32 last;

	while (first < NV_RAMIN_SC__SIZE_1 &&
	       !is_valid_subcontext(valid, first))
		first++;
	if (first >= NV_RAMIN_SC__SIZE_1)
		return range;
	last = first;
	while (last + 1 < NV_RAMIN_SC__SIZE_1 &&
	       is_valid_subcontext(valid, last + 1))
		last++;
	range.first = NV_RAMIN_SC(first);
	range.count = (last - first) * NV_RAMIN_SC_STRIDE + NV_RAMIN_SC_WORDS;
	return range;
}

static bool is_memory_aperture(u32 aperture)
{
	return aperture == NV_APERTURE_VID || aperture == NV_APERTURE_COH ||
	       aperture == NV_APERTURE_NCOH;
}

int nvdebug_subcontext_decode(u32 veid, const u32 *word, size_t words,
			      struct nvdebug_subcontext *out)
{
	/* Padding is cleared, because tables are compared by memcmp(). */
	memset(out, 0, sizeof(*out));
	if (words < NV_RAMIN_SC_WORDS)
		return -EINVAL;
	if (is_bus_error(word[1]) || is_error_code(word[NV_RAMIN_SC_PASID]))
		return -EIO;

	decode_dir(word[0], word[1], NV_RAMIN_PAGE_DIR_BASE_HI_GP100,
		   &out->dir);
	out->veid = veid;
	out->pasid = FIELD_GET(NV_RAMIN_PASID_V, word[NV_RAMIN_SC_PASID]);
	out->ats = word[NV_RAMIN_SC_PASID] & NV_RAMIN_PASID_ENABLE_ATS;
	return is_memory_aperture(out->dir.aperture) && out->dir.addr;
}

const struct nvdebug_page_dir *
nvdebug_instance_compute_dir(const struct nvdebug_instance *instance,
			     const struct nvdebug_subcontext *table,
			     size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (table[i].veid == instance->veid)
			return &table[i].dir;
	return &instance->dir;
}

bool nvdebug_page_dir_same(const struct nvdebug_page_dir *a,
			   const struct nvdebug_page_dir *b)
{
	return a->addr == b->addr && a->aperture == b->aperture;
}
